package handrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/handrail-tools/handrail/internal/dispatch"
	"github.com/handrail-tools/handrail/internal/history"
	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/telemetry"
	"github.com/handrail-tools/handrail/internal/tools/exec"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// closeGrace is how long Close waits for calls that were told to stop.
const closeGrace = 2 * time.Second

// Session is one agent's hands: the tools that it sees, and the way that
// every call takes. It is safe for concurrent use; close it when the agent
// ends.
type Session struct {
	id       string
	options  Options
	registry *registry.Registry
	view     *registry.View
	files    *workspace.Workspace // nil: the session has no files
	past     *history.History     // nil: no history is kept
	timeline *history.Timeline    // of the files, as the session sees it; nil as past
	store    *store.Store
	metrics  *telemetry.Metrics
	judge    *permission.Live
	dispatch *dispatch.Dispatcher
	specs    atomic.Pointer[specList]
	receipts *workspace.Receipts  // nil: repeated reads are not shortened
	probe    *telemetry.ReadProbe // nil: reads are not counted
	recent   recent
	commands *process.Table   // nil: the session runs no commands
	witness  *witness.Witness // of what commands change; nil as commands
	kit      *exec.Kit        // nil as commands
	fences   fences           // of commands
	hooks    *hook.Runner     // nil: there are none
	hookRuns hook.Commands    // where commands of hooks run
	parent   *Session         // nil for a session that was opened by itself
	children children

	// What hooks have said at the start, and whether the model was told.
	starting         sync.Once
	startContext     []string
	began, startSaid atomic.Bool
	stopTold         atomic.Bool // hooks know that the sub-agent stops

	// cleanup undoes, in reverse order, what opening has set up.
	cleanup []func() error
	closing sync.Once
	closed  error
}

// specList is the list as it was last converted, and what from.
type specList struct {
	from  []registry.Listed
	specs []tool.Spec
}

// ID returns the session's id, which events and results carry.
func (s *Session) ID() string { return s.id }

// Specs returns the tools to show to the model, sorted by name. The slice is
// shared and must not be changed; it is the same one until the list changes.
func (s *Session) Specs() []Spec {
	listed := s.view.Specs()
	if c := s.specs.Load(); c != nil && sameList(c.from, listed) {
		return c.specs
	}
	c := &specList{from: listed, specs: make([]tool.Spec, len(listed))}
	for i, l := range listed {
		spec := *l.Entry.Spec
		spec.Name, spec.Title, spec.Description, spec.Input, spec.Output = l.Name, l.Title, l.Description, l.Input, l.Output
		c.specs[i] = spec
	}
	s.specs.Store(c)
	return c.specs
}

// sameList reports whether two lists are the same piece of memory.
func sameList(a, b []registry.Listed) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// SpecsJSON returns the list as JSON. The bytes are the same until the list
// changes, and the same for the same list in every process.
func (s *Session) SpecsJSON() []byte { return s.view.JSON() }

// Subscribe calls fn after every change of the list until cancel is called.
func (s *Session) Subscribe(fn func()) (cancel func()) { return s.view.Subscribe(fn) }

// Add registers a further tool. A name or alias that exists is an error.
func (s *Session) Add(t tool.Tool) error {
	return s.registry.Add(t, registry.Options{Source: sourceEmbedder})
}

// Remove takes a tool away and reports whether it was there.
func (s *Session) Remove(name string) bool { return s.registry.Remove(name) }

// Restrict adds a policy for the rest of the session; it can only take tools
// away. It fails when the policy has a mistake.
func (s *Session) Restrict(p Policy) error {
	compiled, err := compilePolicy(p, s.registry)
	if err != nil {
		return err
	}
	s.view.Restrict(compiled)
	return nil
}

// SetContext makes another model context the active one; "" means none.
func (s *Session) SetContext(name string) { s.view.SetContext(name) }

// Turn tells the session that a new turn of the model begins. Deferred
// exposure counts idle time in turns; otherwise it does nothing.
func (s *Session) Turn() { s.view.Tick() }

// Run takes the calls as one batch and returns exactly one result for each,
// in their order, whatever happens. Safe calls run together; an exclusive
// call runs alone. When a changing call fails, the later calls that had to
// wait for it are cancelled.
func (s *Session) Run(ctx context.Context, calls ...Call) []*tool.Result {
	return s.Start(ctx, calls...)()
}

// Start takes the calls in, in their order and behind all that were started
// before, and returns the function that runs them; it must be called, once,
// and answers as [Session.Run] does. It is for a face whose calls arrive one
// by one and run beside each other.
func (s *Session) Start(ctx context.Context, calls ...Call) (wait func() []*tool.Result) {
	said := s.greet(ctx)
	results := s.dispatch.Start(ctx, calls...)
	if said == nil {
		return results
	}
	return func() []*tool.Result { return s.said(said, results()) }
}

// Explain says how a call would be judged. Nothing runs, nobody is asked and
// nothing is recorded.
func (s *Session) Explain(ctx context.Context, c Call) Explanation {
	return s.dispatch.Explain(ctx, c)
}

// CallJSON is [Session.Run] for one call with arguments that are a Go value.
func (s *Session) CallJSON(ctx context.Context, name string, args any) (*tool.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, Call{Tool: name, Args: raw})[0], nil
}

// WriteMetrics writes the session's counters in the Prometheus text format.
func (s *Session) WriteMetrics(w io.Writer) { s.metrics.Write(w) }

// ContextCompacted tells the session that the model no longer has before it
// all that it was shown. It matters where [Options.ShortenRepeats] is on, and
// must then be called whenever earlier results were dropped or summarised,
// before the next call of the model.
func (s *Session) ContextCompacted() {
	if s.receipts != nil {
		s.receipts.Forget()
	}
}

// ReadPaging returns what [Options.ProbeReads] has counted so far. It is
// also logged when the session is closed.
func (s *Session) ReadPaging() ReadPaging { return s.probe.Counts() }

// Close ends the session and its children: it waits a moment for calls that
// were told to stop, writes what is still in memory, and lets go of every
// file and connection. A session that is closed twice says the same both
// times.
func (s *Session) Close() error {
	s.closing.Do(func() {
		errs := []error{s.children.closeAll()}
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		errs = append(errs, s.dispatch.Close(ctx), s.endHooks())
		if s.probe != nil {
			s.logger().Info("reads of the session", "session", s.id, "paging", fmt.Sprintf("%+v", s.probe.Counts()))
		}
		for i := len(s.cleanup) - 1; i >= 0; i-- {
			errs = append(errs, s.cleanup[i]())
		}
		if s.parent != nil {
			s.parent.children.forget(s)
		}
		s.closed = errors.Join(errs...)
	})
	return s.closed
}

// root is the workspace's folder, or "".
func (s *Session) root() string {
	if s.files == nil {
		return ""
	}
	return s.files.Root()
}

func (s *Session) logger() *slog.Logger {
	if s.options.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.options.Logger
}
