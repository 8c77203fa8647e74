package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

const (
	// MaxKept is the largest file that is kept, in bytes. Of a larger one it
	// is only noted that it changed.
	MaxKept = 64 << 20

	// DefaultMaxBytes is how much the history of one workspace may take, in
	// bytes: some ten thousand edits of source files, or eight whole copies
	// of the largest file that is kept.
	DefaultMaxBytes = 512 << 20

	// DefaultMaxAge is how long a change is kept.
	DefaultMaxAge = 30 * 24 * time.Hour

	// allWorkspaces is how many times MaxBytes the histories of all
	// workspaces together may take.
	allWorkspaces = 4
)

// Options bound a history. The zero value takes the defaults.
type Options struct {
	// MaxBytes is how much the history of one workspace may take on the
	// disk; all workspaces together may take four times as much. 0 means
	// [DefaultMaxBytes].
	MaxBytes int64
	// MaxAge is how long a change is kept. 0 means [DefaultMaxAge].
	MaxAge time.Duration
	// MaxFile is the largest file whose content is kept, in bytes. 0 means
	// [MaxKept], which is also the most, and never more than an eighth of
	// MaxBytes.
	MaxFile int64
	// Logger receives what goes wrong and concerns no call. nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxBytes < 0 || o.MaxAge < 0 || o.MaxFile < 0 {
		return o, errors.New("a limit of the history is negative")
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.MaxAge = cmp.Or(o.MaxAge, DefaultMaxAge)
	o.MaxFile = min(cmp.Or(o.MaxFile, MaxKept), MaxKept, o.MaxBytes/8)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o, nil
}

// A History is the folder with the histories of any number of workspaces.
// Any number of processes may use one folder at once. Its methods may be
// called from several goroutines.
type History struct {
	path string
	opts Options

	mu     sync.Mutex
	dir    *statedir.Dir // nil until something is recorded or read
	trails map[string]*trail
	closed bool
}

// Open returns the history that is kept in the folder dir. The folder is not
// looked at before something is recorded or read, so opening costs nothing;
// it is made where it is missing.
func Open(dir string, opts Options) (*History, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("opening the history: %q is not an absolute path", dir)
	}
	return &History{path: dir, opts: opts, trails: map[string]*trail{}}, nil
}

// A Place says whose history is meant.
type Place struct {
	// Top is the absolute path of the workspace that the history belongs to,
	// links resolved.
	Top string
	// Root is the folder, Top or one beneath it, that the paths of the
	// [Timeline] are relative to, and outside of which it shows nothing.
	// Empty means Top.
	Root string
	// Tree names the session and its children together: by default, an undo
	// takes back what was changed by one of them.
	Tree string
}

// For returns the history of one workspace as a session sees it.
func (h *History) For(p Place) (*Timeline, error) {
	prefix := ""
	if p.Root != "" && p.Root != p.Top {
		rest, err := filepath.Rel(p.Top, p.Root)
		if err != nil || rest == ".." || strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return nil, fmt.Errorf("%s does not lie beneath %s", p.Root, p.Top)
		}
		prefix = filepath.ToSlash(rest) + "/"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.trails[p.Top]
	if t == nil {
		t = newTrail(h, p.Top)
		h.trails[p.Top] = t
	}
	return &Timeline{trail: t, prefix: prefix, top: filepath.ToSlash(p.Top), tree: p.Tree}, nil
}

// Close gives every file back. What is still being changed ends as
// interrupted.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for _, t := range h.trails {
		errs = append(errs, t.close())
	}
	if h.dir != nil {
		errs = append(errs, h.dir.Close())
		h.dir = nil
	}
	return errors.Join(errs...)
}

var errClosed = errors.New("the history is closed")

// base opens the folder of all histories.
func (h *History) base() (*statedir.Dir, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	if h.dir == nil {
		d, err := statedir.Open(h.path)
		if err != nil {
			return nil, err
		}
		h.dir = d
	}
	return h.dir, nil
}

// folderOf names the folder of a workspace.
func folderOf(root string) string {
	s := sha256.Sum256([]byte(root))
	return hex.EncodeToString(s[:8])
}

// A Timeline is the history of one workspace as one session sees it. It
// records the session's changes, as a [workspace.Recorder]. Its methods may
// be called from several goroutines.
type Timeline struct {
	trail  *trail
	prefix string // of what is seen: "" or a folder with its slash
	top    string
	tree   string
}

// stored returns the name of a path of the session as records have it:
// relative to the top, or absolute where it lies elsewhere.
func (t *Timeline) stored(rel string) string {
	rel = strings.TrimPrefix(rel, "./")
	if !filepath.IsAbs(filepath.FromSlash(rel)) {
		return t.prefix + rel
	}
	rel = filepath.ToSlash(rel)
	if rest, ok := strings.CutPrefix(rel, t.top+"/"); ok {
		return rest
	}
	return rel
}

// seen is the opposite of stored. It reports false of what lies beside the
// session's folder. Whether an absolute path may be used says the workspace.
func (t *Timeline) seen(name string) (string, bool) {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return name, true
	}
	rest, ok := strings.CutPrefix(name, t.prefix)
	if ok && strings.HasPrefix(rest, "~") {
		rest = "./" + rest // or it would be taken for a home folder
	}
	return rest, ok && rest != ""
}

type contextKey struct{}

// With returns a context that carries the history to the tools.
func With(ctx context.Context, t *Timeline) context.Context {
	return context.WithValue(ctx, contextKey{}, t)
}

// From returns the history of a call. It panics where there is none: the
// tools that need one are only given to sessions that have it.
func From(ctx context.Context) *Timeline {
	t, ok := ctx.Value(contextKey{}).(*Timeline)
	if !ok {
		panic("history: the context of this call carries no history")
	}
	return t
}
