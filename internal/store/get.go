package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// ErrNotFound is the answer for an id that was never given, for a result
// that is no longer kept, and for one outside of the scope: a stranger does
// not learn which of them it is.
var ErrNotFound = errors.New("no such result")

// Scope says whose results may be read. Each field that is set must match;
// the zero scope matches nothing.
//
// A model reads with the scope of its session, and a person on the command
// line with that of the workspace.
type Scope struct {
	Session, Workspace string
}

func (s Scope) admits(r *record) bool {
	if s == (Scope{}) {
		return false
	}
	return (s.Session == "" || s.Session == r.Session) && (s.Workspace == "" || s.Workspace == r.Workspace)
}

// Record is a kept result. Its content is read when it is asked for, and may
// be gone by then.
type Record struct {
	ID, Session, Workspace, Tool, Call string
	Created                            time.Time
	// Verbatim is as it was given.
	Verbatim bool
	// Size is the length of the text in bytes, Lines how many lines it has.
	Size  int64
	Lines int
	// Media tells what media there are: their type and size in bytes.
	Media []MediaInfo
	// Metadata is as it was given.
	Metadata json.RawMessage

	store *Store
	parts []part
}

// MediaInfo describes one of the media of a result.
type MediaInfo struct {
	MIME string
	Size int64
}

// Get returns the result of that id if the scope admits it, or
// [ErrNotFound].
func (s *Store) Get(ctx context.Context, id string, scope Scope) (*Record, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	if !IsID(id) {
		return nil, ErrNotFound
	}
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("looking for the result %s: %w", id, err)
	}
	if r == nil || !scope.admits(r) {
		return nil, ErrNotFound
	}
	return s.public(r), nil
}

// find looks where a result can be, in the order in which it moves: from
// memory to a journal to the index. So it cannot slip past.
func (s *Store) find(ctx context.Context, id string) (*record, error) {
	s.mu.Lock()
	found := s.pending[id]
	s.mu.Unlock()
	if found != nil {
		return found, nil
	}
	err := eachJournal(s.journal, func(f *os.File) (bool, error) {
		err := readJournal(f, []byte(id), func(r *record) {
			if r.ID == id {
				found = r
			}
		})
		return found != nil, err
	})
	if found != nil || err != nil {
		return found, err
	}
	return s.index.lookup(ctx, id)
}

func (s *Store) public(r *record) *Record {
	out := &Record{
		ID: r.ID, Session: r.Session, Workspace: r.Workspace, Tool: r.Tool, Call: r.Call, Created: time.Unix(0, r.Created),
		Verbatim: r.Verbatim, Size: r.Parts[0].Size, Lines: r.Lines, Metadata: r.Metadata, store: s, parts: r.Parts,
	}
	for _, p := range r.Parts[1:] {
		out.Media = append(out.Media, MediaInfo{p.MIME, p.Size})
	}
	return out
}

// Text opens the text for reading. The content must be closed.
func (r *Record) Text() (*Content, error) { return r.store.content(r.ID, r.parts[0]) }

// ReadMedia returns the i-th of the media.
func (r *Record) ReadMedia(i int) (tool.Media, error) {
	p := r.parts[i+1]
	c, err := r.store.content(r.ID, p)
	if err != nil {
		return tool.Media{}, err
	}
	defer func() { _ = c.Close() }()
	data := make([]byte, p.Size)
	if _, err := io.ReadFull(io.NewSectionReader(c, 0, p.Size), data); err != nil {
		return tool.Media{}, fmt.Errorf("reading a medium of the result %s: %w", r.ID, err)
	}
	return tool.Media{MIME: p.MIME, Data: data}, nil
}

// Content is the text of a result, read from where it lies. It may be read
// from several goroutines at once.
type Content struct {
	io.ReaderAt
	// Size is its length in bytes.
	Size int64
	file *os.File // nil where it lies in memory
}

// Close ends the reading.
func (c *Content) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

func (s *Store) content(id string, p part) (*Content, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	switch {
	case p.text != "":
		return &Content{ReaderAt: strings.NewReader(p.text), Size: p.Size}, nil
	case p.Sum == "":
		return &Content{ReaderAt: strings.NewReader(string(p.Data)), Size: p.Size}, nil
	}
	f, err := s.blobs.open(p.Sum, p.Size)
	if errors.Is(err, fs.ErrNotExist) { // removed since the record was read
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading the result %s: %w", id, err)
	}
	return &Content{ReaderAt: f, Size: p.Size, file: f}, nil
}

// Reader reads results within a scope that is bound to it, so that who asks
// cannot name another.
type Reader interface {
	// Result returns the result of that id, or [ErrNotFound].
	Result(ctx context.Context, id string) (*Record, error)
}

// Bind returns a reader of what any of the scopes admits: a session's own
// results and, where the host allows it, those of the session it was started
// from.
func (s *Store) Bind(scopes ...Scope) Reader { return bound{s, scopes} }

type bound struct {
	store  *Store
	scopes []Scope
}

func (b bound) Result(ctx context.Context, id string) (*Record, error) {
	for _, scope := range b.scopes {
		if r, err := b.store.Get(ctx, id, scope); !errors.Is(err, ErrNotFound) {
			return r, err
		}
	}
	return nil, ErrNotFound
}

type readerKey struct{}

// WithReader returns a context that carries r to the tools.
func WithReader(ctx context.Context, r Reader) context.Context {
	return context.WithValue(ctx, readerKey{}, r)
}

// ReaderFrom returns the reader that ctx carries. It panics where there is
// none: that is a mistake of the host, and never of a model.
func ReaderFrom(ctx context.Context) Reader {
	r, ok := ctx.Value(readerKey{}).(Reader)
	if !ok {
		panic("store: the context carries no reader of results")
	}
	return r
}
