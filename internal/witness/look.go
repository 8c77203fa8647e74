package witness

import (
	"context"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/handrail-tools/handrail/internal/search/walk"
	"github.com/handrail-tools/handrail/internal/workspace"
)

const (
	// maxFiles is how many files a workspace may have to be watched. A look
	// at so many takes a tenth of a second.
	maxFiles = 100_000
	// lookTime is how long one look may take. A file system over a network
	// can be slow beyond measure.
	lookTime = 5 * time.Second
	// tick is how coarse the clock of a file system may be: two writes within
	// it can leave the same times. Linux before 6.13 counts up to 10 ms.
	tick = 20 * time.Millisecond
)

// A stamp tells one state of a file from another without reading it.
type stamp struct {
	mode              fs.FileMode
	size              int64
	modified, changed int64
	inode             uint64
}

func stampOf(i walk.Info) stamp {
	return stamp{i.Mode, i.Size, i.ModTime.UnixNano(), i.Changed, i.Inode}
}

// A seen is a file as it was at one look.
type seen struct {
	stamp
	content copied
	kept    bool   // content is in the shadow
	target  string // of a symbolic link
}

// A picture is all files as they were at one look.
type picture struct {
	files map[string]*seen
	began time.Time
	// whole says that no file is missing.
	whole bool
}

// look takes a picture. What did not change since the picture before has its
// content from there; of the rest it is copied if keep says so.
func (w *Witness) look(ctx context.Context, before *picture, ignored, keep bool) (*picture, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	p := &picture{files: map[string]*seen{}, began: time.Now(), whole: true}
	var mu sync.Mutex
	var count atomic.Int64
	for _, folder := range w.folders {
		left, err := w.walk(ctx, folder, ignored, func(e *walk.Entry) {
			if count.Add(1) > maxFiles {
				cancel()
				return
			}
			s, ok := w.see(e, before, keep)
			if !ok {
				return
			}
			name := string(e.Path())
			mu.Lock()
			p.files[name] = s
			mu.Unlock()
		})
		if err != nil || left.Unreadable > 0 && len(w.folders) == 0 {
			p.whole = false
			break
		}
	}
	return p, nil
}

// walk visits the files of one folder of the workspace.
func (w *Witness) walk(ctx context.Context, folder string, ignored bool, visit func(*walk.Entry)) (walk.Left, error) {
	dir, err := w.files.OpenDir(folder)
	if err != nil {
		return walk.Left{}, err
	}
	defer func() { _ = dir.Close() }()
	tree, err := walk.Open(dir)
	if err != nil {
		return walk.Left{}, err
	}
	defer func() { _ = tree.Close() }()
	c := walk.Config{Hidden: true, NoIgnore: ignored, Links: true, Want: w.wanted}
	if folder != "." {
		c.Prefix = filepath.ToSlash(folder)
	}
	return walk.Walk(ctx, tree, c, func(_ int, e *walk.Entry) { visit(e) })
}

// wanted leaves out what is not the business of tools.
func (w *Witness) wanted(name []byte, dir bool) bool {
	base := path.Base(string(name))
	if dir && base == ".handrail" || !dir && workspace.IsTemp(base) {
		return false
	}
	return !w.files.Unreadable(string(name))
}

// see describes the file that is being visited.
func (w *Witness) see(e *walk.Entry, before *picture, keep bool) (*seen, bool) {
	info, err := e.Stat()
	if err != nil || info.Kind != walk.File && info.Kind != walk.Link {
		return nil, false
	}
	s := &seen{stamp: stampOf(info)}
	if before != nil {
		if was := before.files[string(e.Path())]; was != nil && was.stamp == s.stamp && !was.fresh(before) && (was.kept || !keep) {
			return was, true
		}
	}
	switch {
	case info.Kind == walk.Link:
		s.target, err = e.Readlink()
		s.kept = err == nil
	case keep && info.Size <= maxFile:
		s.content, s.kept = w.copy(e, info)
	}
	return s, true
}

// fresh says that a file was changed so shortly before a look that a later
// change may have left the same times.
func (s *seen) fresh(p *picture) bool {
	last := max(s.changed, s.modified)
	return last > p.began.Add(-tick).UnixNano()
}

// copy puts the content of a file into the shadow. A file that is written to
// meanwhile is not kept.
func (w *Witness) copy(e *walk.Entry, info walk.Info) (copied, bool) {
	f, err := e.Open()
	if err != nil {
		return copied{}, false
	}
	data, err := io.ReadAll(io.LimitReader(f, info.Size+1))
	_ = f.Close()
	after, statErr := e.Stat()
	if err != nil || statErr != nil || int64(len(data)) != info.Size || stampOf(after) != stampOf(info) {
		return copied{}, false
	}
	return w.shadow.put(data)
}

// relative spells a path of a picture as the workspace does.
func relative(name string) string {
	if strings.HasPrefix(name, "~") {
		return "./" + name
	}
	return name
}
