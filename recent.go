package handrail

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/store"
)

// maxRecent is how many of its results a session can list: as many as a host
// can make use of in a list. All others are had by their ids.
const maxRecent = 100

// recent are the ids of a session's newest results, the oldest first.
type recent struct {
	sync.Mutex
	ids []string
}

func (r *recent) add(id string) {
	r.Lock()
	defer r.Unlock()
	if len(r.ids) == maxRecent {
		r.ids = append(r.ids[:0], r.ids[1:]...)
	}
	r.ids = append(r.ids, id)
}

// newest appends the ids, the newest first.
func (r *recent) newest(to []string) []string {
	r.Lock()
	defer r.Unlock()
	for i := len(r.ids) - 1; i >= 0; i-- {
		to = append(to, r.ids[i])
	}
	return to
}

// ResultInfo describes a result that can be had as [ResourceResult].
type ResultInfo struct {
	// ID is what to ask for it by.
	ID string
	// Tool is the canonical name of the tool that gave it.
	Tool string
	// Created is when that was.
	Created time.Time
	// Size is the length of its text as it was given, in bytes; Media is how
	// many media it has.
	Size  int64
	Media int
}

// Results lists the newest results that the session can have as
// [ResourceResult], the newest first, at most a hundred: its own, and after them
// those of the sessions that it is a child of. There are none where recall
// may not be used. A list tells nothing of what a result holds, so it makes no
// event.
func (s *Session) Results(ctx context.Context) ([]ResultInfo, error) {
	if !s.HasResource(ResourceResult) {
		return nil, nil
	}
	var list []ResultInfo
	reader := s.store.Bind(s.scopes()...)
	for _, id := range s.ResultIDs("") {
		r, err := reader.Result(ctx, id)
		if err == nil {
			list = append(list, ResultInfo{ID: id, Tool: r.Tool, Created: r.Created, Size: r.Size, Media: len(r.Media)})
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	return list, nil
}

// ResultIDs lists the ids that [Session.Results] would look up, as far as
// they begin with prefix. One of them may no longer be kept.
func (s *Session) ResultIDs(prefix string) []string {
	if !s.HasResource(ResourceResult) {
		return nil
	}
	var all, ids []string
	for p := s; p != nil && len(all) < maxRecent; p = p.parent {
		all = p.recent.newest(all)
	}
	for _, id := range all[:min(len(all), maxRecent)] {
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	return ids
}
