package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// abandonAfter is how long a call that was told to stop may take to do so
// before its result is made up without it, as in octos.
const abandonAfter = time.Second

// maxBatch is the most calls that one batch may hold. No model sends more
// than a few dozen; the bound keeps a flood from filling memory.
const maxBatch = 1000

// Call is one call as it was asked for.
type Call struct {
	// ID is the caller's own id. Empty gets one.
	ID string
	// Tool is the name that was used: shown, canonical or an alias.
	Tool string
	// Args is the JSON text of the arguments; nil and empty mean {}.
	Args json.RawMessage
	// Progress receives the reports of this call while it runs. It must not
	// block. nil receives none.
	Progress func(tool.Progress)
}

// Ledger keeps whole results. Put returns the id by which a result can be
// recalled.
type Ledger interface {
	Put(ctx context.Context, e store.Entry) (id string, err error)
}

// Config is what a dispatcher needs. View and Judge are required.
type Config struct {
	Session string
	Origin  tool.Origin
	View    *registry.View
	Judge   Rules
	// Approver asks a person. nil means that nobody can be asked.
	Approver permission.Approver
	// AskFor is how long a question stands. 0 is as long as its call.
	AskFor time.Duration
	// Hooks run around calls. nil has none. The session closes them.
	Hooks *hook.Runner
	// Guard notices loops. nil notices nothing.
	Guard *guard.Guard
	// Workspace resolves the paths of assessed calls. nil means that the
	// session has no files.
	Workspace *workspace.Workspace
	// Ledger keeps whole results. nil keeps none.
	Ledger Ledger
	// Redactor hides secrets in results. nil hides those that are
	// recognised by their form.
	Redactor *output.Redactor
	// Observe receives every event; it must not block. nil receives none.
	Observe func(Event)
	// Surround adds to the context what tools take from it. nil adds
	// nothing.
	Surround func(context.Context) context.Context
	// Polish is told of the files that a tool of Handrail's own has edited,
	// while the call still has its turn. It returns which files it changed
	// further, and notes for the model. nil is not told.
	Polish func(ctx context.Context, call *tool.Call, changed []string) (further, notes []string)
	// Confined says that a fence holds the commands of Handrail's own tools to
	// the mode.
	Confined bool
	// Timeout is the budget of a call whose tool names none. 0 means
	// [tool.DefaultTimeout].
	Timeout time.Duration
	// Parallel is the most calls that run at once. 0 means 16.
	Parallel int
	// Logger receives what is wrong with hooks and the ledger. nil discards.
	Logger *slog.Logger
}

// Dispatcher takes the calls of one session through the journey. It is safe
// for concurrent use.
type Dispatcher struct {
	Config
	queue  queue
	grants permission.Grants
	serial counter
}

// New returns a dispatcher.
func New(c Config) *Dispatcher {
	if c.Timeout == 0 {
		c.Timeout = tool.DefaultTimeout
	}
	if c.Parallel == 0 {
		c.Parallel = 16
	}
	if c.Redactor == nil {
		c.Redactor = &output.Redactor{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Dispatcher{Config: c, queue: queue{limit: c.Parallel}}
}

// errClosed is what a call gets whose session ends.
var errClosed = tool.Errorf(tool.CodeCancelled, "cancelled: the session is closed")

// Close tells every call to stop and waits until they have, as long as ctx
// allows. Calls that come later are refused.
func (d *Dispatcher) Close(ctx context.Context) error {
	select {
	case <-d.queue.close(errClosed):
		return nil
	case <-ctx.Done():
		return errors.New("closing the session: a call that was told to stop is still running")
	}
}

// Run takes the calls as one batch and returns exactly one result for each,
// in their order. Safe calls run together; an exclusive call runs alone and
// in its place. When a changing call fails, the later calls of the batch
// that had to wait for it are cancelled, except after invalid input, which
// had no effect.
func (d *Dispatcher) Run(ctx context.Context, calls ...Call) []*tool.Result {
	return d.Start(ctx, calls...)()
}

// Start takes the calls in, so that they have their places in the queue when
// it returns, and gives the function that runs them and returns what
// [Dispatcher.Run] does. That function must be called, once.
func (d *Dispatcher) Start(ctx context.Context, calls ...Call) (wait func() []*tool.Result) {
	results := make([]*tool.Result, len(calls))
	b := &batch{ctx: ctx}
	for i, c := range calls {
		if i >= maxBatch {
			results[i] = tool.FromError(tool.Errorf(tool.CodeTooLarge, "not run: a batch holds at most %d calls", maxBatch))
			continue
		}
		b.trips = append(b.trips, d.newTrip(c, b, i))
	}
	b.intake()
	return func() []*tool.Result {
		b.finish(results)
		return results
	}
}

// batch is the calls of one Run.
type batch struct {
	// ctx is the caller's. Each trip has one of its own below it.
	ctx   context.Context
	trips []*trip
	// failed are the calls that were refused on their way to the queue.
	failed []*trip
}

// intake takes every call to its place in the queue, in order, before any of
// them runs.
func (b *batch) intake() {
	for _, t := range b.trips {
		t.ctx, t.cancel = context.WithCancelCause(b.ctx)
		t.walk(t.ctx, intake)
		if t.refusal != nil && t.cascades(t.refusal.Code) {
			b.failed = append(b.failed, t)
		}
	}
}

// finish takes every call the rest of its way.
func (b *batch) finish(results []*tool.Result) {
	if len(b.trips) == 1 {
		results[0] = b.trips[0].finish()
		return
	}
	var wg sync.WaitGroup
	for i, t := range b.trips {
		wg.Go(func() { results[i] = t.finish() })
	}
	wg.Wait()
}

// failedBefore returns a call, refused during intake, that p would have had
// to wait for.
func (b *batch) failedBefore(p *place) *trip {
	for _, t := range b.failed {
		if t.unkeyed().conflicts(p) {
			return t
		}
	}
	return nil
}

// cascade cancels the later calls of the batch that may not run beside the
// failed one: they were asked for in the belief that it succeeds. They are
// behind it in the queue, so none of them has started.
func (b *batch) cascade(failed *trip) {
	for _, t := range b.trips[failed.index+1:] {
		if t.place != nil && failed.place.conflicts(t.place) {
			t.cancel(errEarlier(failed))
		}
	}
}

func errEarlier(failed *trip) *tool.Error {
	return tool.Errorf(tool.CodeCancelled, "not run: an earlier call of this batch failed (%s). Look at its result, then ask again for what is still wanted.",
		tool.Clip(failed.name()))
}

// counter numbers calls that came without an id.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next(prefix string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return fmt.Sprintf("%s_%d", prefix, c.n)
}
