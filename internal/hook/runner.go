package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/handrail-tools/handrail/internal/permission"
)

// Config is what the hooks of one session need.
type Config struct {
	Hooks []Hook
	Base  Base
	// Names finds the tools that conditions name.
	Names permission.Names
	// Commands is where commands run. Without Fence a hook with a command is
	// an error.
	Commands Commands
	// Observe is told of failures and messages. It must not block. nil is not
	// told.
	Observe func(Report)
}

// A Runner runs the hooks of one session. It is safe for concurrent use; nil
// has no hooks. Close it in the end.
type Runner struct {
	base     Base
	commands Commands
	observe  func(Report)
	client   *http.Client
	entries  []*entry
	has      map[Event]bool

	ctx    context.Context // of asynchronous hooks
	cancel context.CancelFunc
	slots  chan struct{}
	mu     sync.Mutex // guards closed and the growing of wg
	closed bool
	wg     sync.WaitGroup
}

// entry is one hook of a session.
type entry struct {
	Hook
	index   int
	label   string
	kind    kind
	match   matcher
	about   condition
	ran     atomic.Bool
	breaker breaker
}

// New compiles the hooks. All their mistakes are reported at once, each in a
// line that begins with the place of the hook in the list. Without any hook
// that could run it returns nil.
func New(c Config) (*Runner, error) {
	r := &Runner{base: c.Base, commands: c.Commands, observe: c.Observe, has: map[Event]bool{}, slots: make(chan struct{}, maxAsync)}
	if len(c.Hooks) > MaxHooks {
		return nil, fmt.Errorf("hooks: there are %d; at most %d", len(c.Hooks), MaxHooks)
	}
	var bad []string
	for i := range c.Hooks {
		e, errs := r.compile(i, c.Hooks[i], c.Names)
		for _, err := range errs {
			bad = append(bad, fmt.Sprintf("%s: %s, %s: %v", cmp.Or(c.Hooks[i].Source, strconv.Itoa(i+1)), c.Hooks[i].Event, c.Hooks[i].name(), err))
		}
		if e != nil {
			r.entries = append(r.entries, e)
			r.has[e.Event] = true
		}
	}
	if bad != nil {
		return nil, fmt.Errorf("hooks:\n- %s", strings.Join(bad, "\n- "))
	}
	if len(r.entries) == 0 {
		return nil, nil
	}
	r.client = newClient()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// compile returns nil for a hook whose event is never fired.
func (r *Runner) compile(i int, h Hook, names permission.Names) (*entry, []error) {
	name, fires, err := ParseEvent(string(h.Event))
	if err != nil {
		return nil, []error{err}
	}
	h.Event = name
	errs := h.check()
	e := &entry{Hook: h, index: i, label: h.name()}
	e.kind, _ = h.Event.kind()
	if e.match, err = newMatcher(h.Matcher); err != nil {
		errs = append(errs, err)
	}
	if e.kind.tool {
		if e.about, err = newCondition(h.If, names); err != nil {
			errs = append(errs, err)
		}
	}
	if h.Command != "" && r.commands.Fence == nil {
		errs = append(errs, errors.New("a command needs a session with a workspace, in whose fence it runs"))
	}
	e.Timeout = min(e.Timeout, MaxTimeout)
	if e.Timeout == 0 {
		e.Timeout = DefaultTimeout
		if e.Event == SessionEnd {
			e.Timeout = endTimeout
		}
	}
	if !fires {
		return nil, errs
	}
	return e, errs
}

// Has reports whether there are hooks for an event.
func (r *Runner) Has(e Event) bool { return r != nil && r.has[e] }

// Close ends the asynchronous hooks and waits for them, as long as ctx allows.
func (r *Runner) Close(ctx context.Context) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	defer r.client.CloseIdleConnections()
	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("closing the session: a hook that was told to stop is still running")
	}
}

// A job is one hook that an event is for, and what it is shown.
type job struct {
	*entry
	views []view // of a call; else one that is nil
}

// Run runs the hooks of an event that match, at once, and returns what they
// say together. It never fails: what goes wrong with a hook is in the outcome
// where it counts, and reported.
func (r *Runner) Run(ctx context.Context, in Input) Outcome {
	out := Outcome{Rewriter: -1}
	if !r.Has(in.Event) {
		return out
	}
	in.Session, in.Origin = r.base.Session, r.base.Origin
	jobs, err := r.jobs(&in)
	if err != nil { // a fault of this program
		return Outcome{Verdict: Deny, Reason: err.Error(), Rewriter: -1}
	}
	if len(jobs) == 0 {
		return out
	}
	after := r.watch(ctx, &in, jobs)
	answers := make([]Answer, len(jobs))
	if len(jobs) == 1 {
		answers[0] = r.ask(ctx, jobs[0], &in)
	} else {
		var wg sync.WaitGroup
		for i, j := range jobs {
			wg.Go(func() { answers[i] = r.ask(ctx, j, &in) })
		}
		wg.Wait()
	}
	for i, j := range jobs {
		out.add(j.entry, &answers[i], in.Rewritten)
	}
	if out.Verdict == Deny {
		out.Args, out.Rewriter, out.RewriterAllows = nil, -1, false
	}
	out.Changed, out.Notes = after(ctx)
	return out
}

// add takes the answer of the next hook in order.
func (o *Outcome) add(e *entry, a *Answer, rewritten []int) {
	late := a.Args != nil && slices.Contains(rewritten, e.index)
	if late && a.Verdict == Allow {
		a.Verdict = Pass // it allows what it would have made of the call, which nobody takes any more
	}
	if a.Verdict > o.Verdict {
		o.Verdict, o.Reason, o.By = a.Verdict, a.Reason, e.label
	}
	if a.Verdict == Deny {
		o.Feedback = append(o.Feedback, a.Reason)
	}
	if a.Context != "" {
		o.Context = append(o.Context, a.Context)
	}
	if a.Args != nil && !late {
		o.Args, o.Rewriter, o.RewriterAllows = a.Args, e.index, a.Verdict == Allow
	}
	if a.Stop && !o.Stop {
		o.Stop, o.StopReason = true, a.StopReason
	}
}

// jobs finds the hooks that an event is for. A command that is there twice
// runs once, as in Claude Code.
func (r *Runner) jobs(in *Input) ([]job, error) {
	var s shown
	k, _ := in.Event.kind()
	if k.tool {
		var err error
		if s, err = show(in, r.base.Root); err != nil {
			return nil, err
		}
	}
	author := -1 // of the arguments as they are
	if n := len(in.Rewritten); n > 0 {
		author = in.Rewritten[n-1]
	}
	var jobs []job
	for _, e := range r.entries {
		if e.Event != in.Event || e.index == author || e.Async && author >= 0 || e.about != nil && !e.about(in.Act) {
			continue
		}
		j := job{entry: e}
		switch {
		case !k.tool:
			if k.subject != "" && !e.match.matches(in.Subject) {
				continue
			}
		case e.Func != nil && (e.match.matches(s.names...) || e.match.matches(s.ownNames...)):
			j.views = []view{s.own}
		default:
			if j.views = s.pick(e.match); j.views == nil {
				continue
			}
		}
		if slices.ContainsFunc(jobs, j.same) || e.Once && !e.ran.CompareAndSwap(false, true) {
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// same reports whether two jobs are the same command or server.
func (j job) same(o job) bool {
	return j.Func == nil && o.Func == nil && j.Command == o.Command && j.URL == o.URL && slices.Equal(j.Args, o.Args) &&
		j.Unfenced == o.Unfenced && j.OnFailure == o.OnFailure && j.Async == o.Async
}

// watch looks at the workspace before commands run that may change it.
func (r *Runner) watch(ctx context.Context, in *Input, jobs []job) func(context.Context) (changed, lines []string) {
	none := func(context.Context) ([]string, []string) { return nil, nil }
	if r.commands.Watch == nil || in.Event != PostToolUse && in.Event != PostToolUseFailure ||
		!slices.ContainsFunc(jobs, func(j job) bool { return j.Command != "" && !j.Async }) {
		return none
	}
	after, err := r.commands.Watch(ctx)
	if err != nil {
		r.report(Report{Event: in.Event, Hook: "hooks", CallID: in.CallID, Failure: "what they change was not seen: " + err.Error()})
		return none
	}
	return after
}

func (r *Runner) report(p Report) {
	if r.observe != nil {
		r.observe(p)
	}
}
