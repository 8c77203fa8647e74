package history

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

const (
	// grace is how long a segment stays after the last write into it, even
	// beyond the quota: the process that wrote it may want it at once (octos
	// #1768, where a prune took a snapshot that another process had just
	// made). Twice the quota is never exceeded for it.
	grace = 10 * time.Minute

	// tendEvery is how often the histories of all workspaces are looked
	// over, by whichever process comes first.
	tendEvery = time.Hour
	tendMark  = "tended"
)

// oldSegment is a segment that may have to go.
type oldSegment struct {
	dir      *statedir.Dir
	name     string
	size     int64
	modified time.Time
}

// tend removes what exceeds the limits. It is no reason to refuse a change.
// t.mu is held.
func (t *trail) tend() {
	opts := &t.history.opts
	all, err := oldSegments(t.dir)
	if err == nil {
		err = prune(all, opts.MaxBytes, opts.MaxAge)
	}
	if err = errors.Join(err, t.history.tendAll()); err != nil {
		opts.Logger.Warn("removing old history", "error", err)
	}
}

// oldSegments lists the segments of a folder.
func oldSegments(d *statedir.Dir) ([]oldSegment, error) {
	names, err := segmentNames(d)
	if err != nil {
		return nil, err
	}
	var out []oldSegment
	for _, name := range names {
		f, err := d.OpenFile(name, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		out = append(out, oldSegment{d, name, info.Size(), info.ModTime()})
	}
	return out, nil
}

// prune removes whole segments, the one that was written last at last, until
// the rest keeps to the limits. What a living process has stays.
func prune(all []oldSegment, maxBytes int64, maxAge time.Duration) error {
	slices.SortStableFunc(all, func(a, b oldSegment) int { return a.modified.Compare(b.modified) })
	total := int64(0)
	for _, s := range all {
		total += s.size
	}
	var errs []error
	for _, s := range all {
		age := time.Since(s.modified)
		if age <= maxAge && total <= maxBytes {
			break
		}
		if age < grace && total <= 2*maxBytes {
			break
		}
		gone, err := removeSegment(s.dir, s.name)
		errs = append(errs, err)
		if gone {
			total -= s.size
		}
	}
	return errors.Join(errs...)
}

// removeSegment removes a segment that no process has.
func removeSegment(d *statedir.Dir, name string) (bool, error) {
	f, err := d.OpenFile(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	if ok, err := statedir.Lock(f, false, false); !ok || err != nil {
		return false, err
	}
	return true, d.Remove(name)
}

// tendAll looks over the histories of all workspaces, unless that was done
// lately.
func (h *History) tendAll() error {
	base, err := h.base()
	if err != nil {
		return err
	}
	mark, err := base.OpenFile(tendMark, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { _ = mark.Close() }()
	info, err := mark.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 && time.Since(info.ModTime()) < tendEvery {
		return nil
	}
	if ok, err := statedir.Lock(mark, false, false); !ok || err != nil {
		return err
	}
	if _, err := mark.WriteAt([]byte("."), 0); err != nil {
		return err
	}
	return errors.Join(base.Touch(tendMark), h.pruneAll(base))
}

func (h *History) pruneAll(base *statedir.Dir) error {
	names, err := base.Names()
	if err != nil {
		return err
	}
	var all []oldSegment
	var errs []error
	for _, name := range names {
		if strings.Contains(name, ".") || name == tendMark {
			continue
		}
		d, err := base.Sub(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		defer func() {
			_ = d.Close()
			_ = base.RemoveDir(name) // which fails unless it is empty
		}()
		own, err := oldSegments(d)
		errs = append(errs, err)
		all = append(all, own...)
	}
	return errors.Join(append(errs, prune(all, allWorkspaces*h.opts.MaxBytes, h.opts.MaxAge))...)
}
