package registry

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/handrail-tools/handrail/tool"
)

// source is a connection that tools come through.
type source struct {
	id     string
	closer io.Closer
}

// AddSource hands a source's connection to the registry, which closes it
// once: when the source is removed or the registry is closed. Hiding,
// pruning or removing the tools of a source never closes it. After an error
// the connection is still the caller's.
func (r *Registry) AddSource(id string, c io.Closer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return ErrClosed
	case id == "":
		return errors.New("adding a source: it has no id")
	case c == nil:
		return fmt.Errorf("adding the source %q: it has no connection", tool.Clip(id))
	case r.source(id) >= 0:
		return fmt.Errorf("adding the source %q: there is one of that id", tool.Clip(id))
	}
	r.sources = append(r.sources, source{id, c})
	return nil
}

// RemoveSource removes the tools of a source and closes its connection. It
// is an error if there is no such source.
func (r *Registry) RemoveSource(id string) error {
	r.mu.Lock()
	at := r.source(id)
	if at < 0 {
		r.mu.Unlock()
		return fmt.Errorf("removing the source %q: there is none of that id", tool.Clip(id))
	}
	src := r.sources[at]
	r.sources = slices.Delete(r.sources, at, at+1)
	r.mu.Unlock()

	_, err := r.removeIf(func(e *Entry) bool { return e.Source == id })
	return errors.Join(err, src.close())
}

// Sources returns the ids of the sources in the order in which they came.
func (r *Registry) Sources() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]string, 0, len(r.sources))
	for _, s := range r.sources {
		ids = append(ids, s.id)
	}
	return ids
}

// Close closes every source, the last first, and refuses all further
// changes. The tools stay listed for views that are still winding down.
// Closing twice does nothing.
func (r *Registry) Close() error {
	r.mu.Lock()
	sources := r.sources
	r.sources, r.closed = nil, true
	r.mu.Unlock()
	var errs []error
	for _, s := range slices.Backward(sources) {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// source returns where the source of an id stands, or -1.
func (r *Registry) source(id string) int {
	return slices.IndexFunc(r.sources, func(s source) bool { return s.id == id })
}

func (s source) close() error {
	if err := s.closer.Close(); err != nil {
		return fmt.Errorf("closing the source %q: %w", tool.Clip(s.id), err)
	}
	return nil
}
