package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Filter says which events are asked for. Each field that is set must match.
type Filter struct {
	Session, Call, Tool, Result string
	// Failed asks for calls that were not OK.
	Failed bool
	// Since and Until bound the time: from Since on, before Until.
	Since, Until time.Time
	// Limit is how many events are returned at most, the newest. 0 or less
	// means [DefaultEventLimit].
	Limit int
}

// DefaultEventLimit is how many events are returned when a [Filter] has no
// limit.
const DefaultEventLimit = 100

func (f *Filter) admits(e *Event) bool {
	return (f.Session == "" || f.Session == e.Session) && (f.Call == "" || f.Call == e.Call) &&
		(f.Tool == "" || f.Tool == e.Tool) && (f.Result == "" || f.Result == e.Result) && (!f.Failed || !e.OK) &&
		!e.Time.Before(f.Since) && (f.Until.IsZero() || e.Time.Before(f.Until))
}

// Events are what [Store.Events] has found.
type Events struct {
	// Events are in the order of the log, the newest first.
	Events []Event
	// Torn is how many lines could not be read: a crash of the machine can
	// tear the last line of a file.
	Torn int
}

// Events returns the newest events that the filter asks for.
func (s *Store) Events(ctx context.Context, f Filter) (Events, error) {
	var out Events
	if err := s.enter(); err != nil {
		return out, err
	}
	defer s.life.RUnlock()
	if f.Limit <= 0 {
		f.Limit = DefaultEventLimit
	}
	names, err := s.events.names()
	if err != nil {
		return out, fmt.Errorf("reading the event log: %w", err)
	}
	for _, name := range slices.Backward(names) {
		if !f.mayHold(name) {
			continue
		}
		if err := s.events.read(ctx, name, &f, &out); err != nil {
			return out, fmt.Errorf("reading the event log: %w", err)
		}
		if len(out.Events) >= f.Limit {
			break
		}
	}
	return out, nil
}

// mayHold reports whether the file can have events of the asked time.
func (f *Filter) mayHold(name string) bool {
	day := name[:len(dayFormat)]
	return (f.Since.IsZero() || day >= f.Since.UTC().Format(dayFormat)) && (f.Until.IsZero() || day <= f.Until.UTC().Format(dayFormat))
}

// read adds the events of one file, from its end on, until there are enough.
func (l *eventLog) read(ctx context.Context, name string, f *Filter, out *Events) error {
	file, err := l.dir.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) { // removed since it was listed
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var rest []byte // the start of the line that the block before ends with
	for end := info.Size(); end > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := max(0, end-block)
		buf := make([]byte, end-at, int(end-at)+len(rest))
		if _, err := io.ReadFull(io.NewSectionReader(file, at, end-at), buf); err != nil {
			return err
		}
		buf = append(buf, rest...)
		first := bytes.IndexByte(buf, '\n') + 1
		if at == 0 {
			first = 0
		} else if first == 0 && len(buf) > 2*maxLine { // no event is that long
			out.Torn++
			rest, end = nil, at
			continue
		}
		if first > 0 || at == 0 {
			if enough := collect(buf[first:], f, out); enough {
				return nil
			}
			buf = buf[:first]
		}
		rest = buf
		end = at
	}
	return nil
}

// collect adds the events of whole lines, from the last on, and reports
// whether there are enough.
func collect(lines []byte, f *Filter, out *Events) bool {
	for len(lines) > 0 {
		i := bytes.LastIndexByte(lines[:len(lines)-1], '\n') + 1
		line := bytes.TrimSpace(lines[i:])
		lines = lines[:i]
		if len(line) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			out.Torn++
			continue
		}
		if f.admits(&e) {
			if out.Events = append(out.Events, e); len(out.Events) >= f.Limit {
				return true
			}
		}
	}
	return false
}
