package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// fake is a tool whose behaviour a test writes down.
type fake struct {
	spec   tool.Spec
	run    func(ctx context.Context, call *tool.Call) (*tool.Result, error)
	assess func(call *tool.Call) (tool.Act, error)
	key    func(args json.RawMessage) string
	source string
}

func (f fake) from() string { return f.source }

func (f fake) Spec() tool.Spec {
	if f.spec.Description == "" {
		f.spec.Description = "A tool for tests."
	}
	if f.spec.Input == nil {
		f.spec.Input = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","description":"a number"},"s":{"type":"string","description":"a text"}},"additionalProperties":false}`)
	}
	return f.spec
}

func (f fake) Run(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if f.run == nil {
		return tool.Text("ok"), nil
	}
	return f.run(ctx, call)
}

func (f fake) Assess(_ context.Context, call *tool.Call) (tool.Act, error) {
	if f.assess == nil {
		return tool.Act{}, nil
	}
	return f.assess(call)
}

func (f fake) Key(args json.RawMessage) string {
	if f.key == nil {
		return ""
	}
	return f.key(args)
}

func safe(name string, run func(context.Context, *tool.Call) (*tool.Result, error)) fake {
	return fake{spec: tool.Spec{Name: name, Effects: tool.Read, Concurrency: tool.Safe}, run: run}
}

func exclusive(name string, run func(context.Context, *tool.Call) (*tool.Result, error)) fake {
	return fake{spec: tool.Spec{Name: name, Effects: tool.Read | tool.Write}, run: run}
}

// open makes a dispatcher that lets everything happen, changed by edit.
func open(t testing.TB, edit func(*Config), tools ...tool.Tool) *Dispatcher {
	t.Helper()
	r := registry.New()
	for _, tl := range tools {
		source := ""
		if f, ok := tl.(interface{ from() string }); ok {
			source = f.from()
		}
		if err := r.Add(tl, registry.Options{Source: source}); err != nil {
			t.Fatal(err)
		}
	}
	view, err := registry.NewView(r, registry.ViewConfig{})
	if err != nil {
		t.Fatal(err)
	}
	judge, err := permission.New(permission.Config{Mode: permission.FullAccess}, names{r})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Session: "s", View: view, Judge: judge}
	if edit != nil {
		edit(&c)
	}
	return New(c)
}

type names struct{ *registry.Registry }

func (names) Names() []string { return nil }

func codes(results []*tool.Result) string {
	var out []string
	for _, r := range results {
		if r.OK {
			out = append(out, "ok")
		} else {
			out = append(out, string(r.Code))
		}
	}
	return strings.Join(out, " ")
}

func TestEveryCallGetsOneResult(t *testing.T) {
	d := open(t, nil,
		safe("good", nil),
		safe("nothing", func(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil }),
		safe("silent", func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{}, nil }),
		safe("plain", func(context.Context, *tool.Call) (*tool.Result, error) { return nil, errors.New("no such thing") }),
		safe("coded", func(context.Context, *tool.Call) (*tool.Result, error) {
			return nil, fmt.Errorf("wrapped: %w", tool.Errorf(tool.CodeSandboxDenied, "the fence"))
		}),
		safe("boom", func(context.Context, *tool.Call) (*tool.Result, error) { panic("boom") }),
	)
	got := d.Run(context.Background(),
		Call{Tool: "good"}, Call{Tool: "nothing"}, Call{Tool: "silent"}, Call{Tool: "plain"}, Call{Tool: "coded"}, Call{Tool: "boom"},
		Call{Tool: "goood"}, Call{Tool: "good", Args: json.RawMessage(`{"x":1}`)}, Call{Tool: "good", Args: json.RawMessage(`{`)})
	if c := codes(got); c != "ok failed failed failed sandbox_denied panicked unknown_tool invalid_input invalid_input" {
		t.Error(c)
	}
	for i, r := range got {
		if r.Text == "" && r.Code != tool.CodeFailed {
			t.Errorf("result %d says nothing", i)
		}
		if r.OK != (r.Code == "") {
			t.Errorf("result %d: OK %v with code %q", i, r.OK, r.Code)
		}
	}
	if !strings.Contains(got[6].Text, `"good"`) && !strings.Contains(got[6].Text, "good") {
		t.Errorf("no near name in %q", got[6].Text)
	}
}

func TestBatchIsBounded(t *testing.T) {
	d := open(t, nil, safe("good", nil))
	got := d.Run(context.Background(), make([]Call, maxBatch+2)...)
	if len(got) != maxBatch+2 || got[maxBatch].Code != tool.CodeTooLarge {
		t.Errorf("%d results, call beyond the bound: %s", len(got), got[maxBatch].Code)
	}
}

func TestOversizeArguments(t *testing.T) {
	d := open(t, nil, safe("good", nil))
	big := json.RawMessage(`{"s":"` + strings.Repeat("x", tool.MaxArgs) + `"}`)
	if r := d.Run(context.Background(), Call{Tool: "good", Args: big})[0]; r.Code != tool.CodeTooLarge {
		t.Errorf("code %s", r.Code)
	}
}

// TestL15_BatchOrder: a read after a write sees the write, and safe calls
// run together.
func TestL15_BatchOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var events []string
		log := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, s)
		}
		slow := func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			log("+" + c.ID)
			time.Sleep(time.Second)
			log("-" + c.ID)
			return tool.Text("ok"), nil
		}
		d := open(t, nil, safe("s", slow), exclusive("x", slow))
		start := time.Now()
		got := d.Run(t.Context(), Call{ID: "1", Tool: "s"}, Call{ID: "2", Tool: "s"}, Call{ID: "3", Tool: "x"}, Call{ID: "4", Tool: "s"}, Call{ID: "5", Tool: "s"})
		if c := codes(got); c != "ok ok ok ok ok" {
			t.Fatal(c)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s, want the three phases S‖S, X, S‖S", took)
		}
		if i, j := slices.Index(events, "+3"), slices.Index(events, "+4"); i < slices.Index(events, "-2") || j < slices.Index(events, "-3") {
			t.Errorf("order %v", events)
		}
	})
}

func TestCascade(t *testing.T) {
	fails := func(context.Context, *tool.Call) (*tool.Result, error) { return nil, errors.New("broken") }
	invalid := func(context.Context, *tool.Call) (*tool.Result, error) { return nil, tool.Invalidf("not like this") }
	keyed := func(name string) fake {
		return fake{spec: tool.Spec{Name: name, Effects: tool.Exec, Concurrency: tool.Keyed},
			run: fails, key: func(args json.RawMessage) string { return string(args) }}
	}
	d := open(t, nil, safe("s", nil), exclusive("x", nil), exclusive("xfail", fails), safe("sfail", fails), exclusive("xinvalid", invalid), keyed("k"))
	for _, c := range []struct{ name, calls, want string }{
		{"failed exclusive cancels all later", "s xfail s x", "ok failed cancelled cancelled"},
		{"failed safe cancels nothing", "sfail x s", "failed ok ok"},
		{"L2 invalid input cancels nothing", "xinvalid x s", "invalid_input ok ok"},
		{"unknown cancels nothing", "nope x", "unknown_tool ok"},
		{"keyed cancels its key and exclusives", "k:1 k:1 k:2 s x", "failed cancelled failed ok cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var calls []Call
			for word := range strings.FieldsSeq(c.calls) {
				name, n, has := strings.Cut(word, ":")
				call := Call{Tool: name}
				if has {
					call.Args = json.RawMessage(`{"n":` + n + `}`)
				}
				calls = append(calls, call)
			}
			if got := codes(d.Run(context.Background(), calls...)); got != c.want {
				t.Errorf("%s: got %s, want %s", c.calls, got, c.want)
			}
		})
	}
}

func TestDeniedExclusiveCancelsLaterCalls(t *testing.T) {
	r := registry.New()
	for _, tl := range []tool.Tool{exclusive("x", nil), safe("s", nil)} {
		if err := r.Add(tl, registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	p, err := policy.Compile(policy.Config{Deny: []string{"x"}}, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	view, err := registry.NewView(r, registry.ViewConfig{Policies: []*policy.Policy{p}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var denial Event
	d := open(t, func(c *Config) {
		c.View = view
		c.Observe = func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Tool == "x" {
				denial = e
			}
		}
	})
	if got := codes(d.Run(context.Background(), Call{Tool: "x"}, Call{Tool: "s"})); got != "denied cancelled" {
		t.Error(got)
	}
	if e := denial; e.Reason != "policy_deny" || !strings.Contains(e.Rule, `"x"`) || e.Step != "policy" {
		t.Errorf("the event does not say what decided: %+v", e)
	}
}

func TestL11_FinishedCallsKeepTheirResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			<-ctx.Done()
			return &tool.Result{Text: "half of it"}, nil
		}
		d := open(t, func(c *Config) { c.Timeout = time.Minute }, safe("quick", nil), safe("hang", hang))
		got := d.Run(t.Context(), Call{Tool: "quick"}, Call{Tool: "hang"}, Call{Tool: "quick"})
		if c := codes(got); c != "ok timeout ok" {
			t.Error(c)
		}
		if !strings.Contains(got[1].Text, "half of it") || !strings.Contains(got[1].Text, "1m0s") {
			t.Errorf("the partial output or the reason is lost: %q", got[1].Text)
		}
	})
}

func TestL12_OwnTimeoutWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(d time.Duration) func(context.Context, *tool.Call) (*tool.Result, error) {
			return func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
				select {
				case <-time.After(d):
					return tool.Text("done"), nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
		}
		long, short, person := safe("long", wait(9*time.Minute)), safe("short", wait(9*time.Minute)), safe("person", wait(100*time.Hour))
		long.spec.Timeout, short.spec.Timeout, person.spec.WaitsForPerson = 10*time.Minute, time.Second, true
		d := open(t, nil, long, short, person)
		if got := codes(d.Run(t.Context(), Call{Tool: "long"}, Call{Tool: "short"}, Call{Tool: "person"})); got != "ok timeout ok" {
			t.Error(got)
		}
	})
}

func TestF198_CancelledTurnStillAnswersEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hang := func(ctx context.Context, _ *tool.Call) (*tool.Result, error) { <-ctx.Done(); return nil, ctx.Err() }
		d := open(t, nil, exclusive("x", hang), safe("s", nil))
		go func() { time.Sleep(time.Second); cancel() }()
		if got := codes(d.Run(ctx, Call{Tool: "x"}, Call{Tool: "s"}, Call{Tool: "x"})); got != "cancelled cancelled cancelled" {
			t.Error(got)
		}
	})
}

func TestL14_ToolThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := func(context.Context, *tool.Call) (*tool.Result, error) { <-release; return tool.Text("late"), nil }
		d := open(t, func(c *Config) { c.Timeout = time.Second }, exclusive("deaf", deaf), exclusive("x", nil), safe("s", nil))
		start := time.Now()
		if got := codes(d.Run(t.Context(), Call{Tool: "deaf"})); got != "timeout" || time.Since(start) != 2*time.Second {
			t.Fatalf("%s after %s", got, time.Since(start))
		}
		if got := d.Run(t.Context(), Call{Tool: "x"})[0]; got.Code != tool.CodeFailed || !strings.Contains(got.Text, "has not") {
			t.Errorf("beside a call that does not stop: %s %q", got.Code, got.Text)
		}
		close(release)
		synctest.Wait()
		if got := codes(d.Run(t.Context(), Call{Tool: "x"}, Call{Tool: "s"})); got != "ok ok" {
			t.Errorf("the session does not recover: %s", got)
		}
	})
}

func TestCloseStopsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := func(context.Context, *tool.Call) (*tool.Result, error) { <-release; return nil, nil }
		hang := func(ctx context.Context, _ *tool.Call) (*tool.Result, error) { <-ctx.Done(); return nil, ctx.Err() }
		d := open(t, nil, safe("hang", hang), safe("deaf", deaf))
		done := make(chan string)
		go func() { done <- codes(d.Run(t.Context(), Call{Tool: "hang"}, Call{Tool: "deaf"})) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if d.Close(ctx) == nil {
			t.Error("Close says nothing of the call that does not stop")
		}
		if got := <-done; got != "cancelled cancelled" {
			t.Error(got)
		}
		if got := codes(d.Run(t.Context(), Call{Tool: "hang"})); got != "cancelled" {
			t.Errorf("a closed session runs a call: %s", got)
		}
		close(release)
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestL18_EveryStartIsFinished(t *testing.T) {
	var mu sync.Mutex
	open_ := map[string]int{}
	d := open(t, func(c *Config) {
		c.Observe = func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			switch e.Phase {
			case PhaseStarted:
				open_[e.CallID]++
			case PhaseFinished:
				open_[e.CallID] -= 10
			}
		}
	}, safe("ok", nil), safe("boom", func(context.Context, *tool.Call) (*tool.Result, error) { panic(1) }), exclusive("bad", func(context.Context, *tool.Call) (*tool.Result, error) { return nil, errors.New("x") }))
	d.Run(context.Background(), Call{Tool: "ok"}, Call{Tool: "boom"}, Call{Tool: "none"}, Call{Tool: "bad"}, Call{Tool: "ok"})
	if len(open_) != 5 {
		t.Errorf("%d calls were seen", len(open_))
	}
	for id, n := range open_ {
		if n != -9 && n != -10 {
			t.Errorf("call %s: %d", id, n)
		}
	}
}

func TestProgressEndsWithTheCall(t *testing.T) {
	var reports []string
	var keep func(tool.Progress)
	d := open(t, nil, safe("p", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.Progress(tool.Progress{Message: "half"})
		keep = c.Progress
		return tool.Text("ok"), nil
	}))
	d.Run(context.Background(), Call{Tool: "p", Progress: func(p tool.Progress) { reports = append(reports, p.Message) }})
	keep(tool.Progress{Message: "late"})
	if !slices.Equal(reports, []string{"half"}) {
		t.Errorf("reports %v", reports)
	}
}

func TestAssessCannotWiden(t *testing.T) {
	ran := false
	sly := safe("sly", func(context.Context, *tool.Call) (*tool.Result, error) { ran = true; return tool.Text(""), nil })
	sly.assess = func(*tool.Call) (tool.Act, error) { return tool.Act{Effects: tool.Exec}, nil }
	if r := open(t, nil, sly).Run(context.Background(), Call{Tool: "sly"})[0]; r.Code != tool.CodeDenied || ran {
		t.Errorf("%s, ran %v", r.Code, ran)
	}
	sly.assess = func(*tool.Call) (tool.Act, error) { panic("assess") }
	if r := open(t, nil, sly).Run(context.Background(), Call{Tool: "sly"})[0]; r.Code != tool.CodePanicked || ran {
		t.Errorf("%s, ran %v", r.Code, ran)
	}
}

func TestApproval(t *testing.T) {
	type answer func(permission.Request) (permission.Answer, error)
	yes := func(r permission.Request) (permission.Answer, error) {
		return permission.Answer{Allow: true, Digest: r.Digest}, nil
	}
	for _, c := range []struct {
		name   string
		answer answer
		want   tool.Code
	}{
		{"nobody there", nil, tool.CodeApprovalRequired},
		{"yes", yes, ""},
		{"no", func(r permission.Request) (permission.Answer, error) {
			return permission.Answer{Digest: r.Digest, Reason: "not today"}, nil
		}, tool.CodeApprovalDenied},
		{"yes to another call", func(permission.Request) (permission.Answer, error) {
			return permission.Answer{Allow: true, Digest: "x"}, nil
		}, tool.CodeApprovalDenied},
		{"error", func(permission.Request) (permission.Answer, error) {
			return permission.Answer{Allow: true}, errors.New("gone")
		}, tool.CodeApprovalRequired},
		{"panic", func(permission.Request) (permission.Answer, error) { panic("face") }, tool.CodeApprovalRequired},
		{"nobody, and yes", func(r permission.Request) (permission.Answer, error) {
			return permission.Answer{Allow: true, Digest: r.Digest}, fmt.Errorf("at the client: %w", permission.ErrNobody)
		}, tool.CodeApprovalRequired},
		{"words of its own", func(r permission.Request) (permission.Answer, error) {
			return permission.Answer{Allow: true, Digest: r.Digest}, tool.Errorf(tool.CodeApprovalDenied, "not like this")
		}, tool.CodeApprovalDenied},
		{"words of another code", func(permission.Request) (permission.Answer, error) {
			return permission.Answer{}, tool.Errorf(tool.CodeInvalidInput, "harmless")
		}, tool.CodeApprovalRequired},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := false
			d := open(t, func(cfg *Config) {
				cfg.Judge = &permission.Judge{}
				if c.answer != nil {
					cfg.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) { return c.answer(r) }
				}
			}, exclusive("x", func(context.Context, *tool.Call) (*tool.Result, error) { ran = true; return tool.Text(""), nil }))
			r := d.Run(context.Background(), Call{Tool: "x"})[0]
			if r.Code != c.want || ran != (c.want == "") {
				t.Errorf("code %q, ran %v", r.Code, ran)
			}
		})
	}
}

func TestSessionGrantCoversTheExactCallOnly(t *testing.T) {
	asked := 0
	d := open(t, func(cfg *Config) {
		cfg.Judge = &permission.Judge{}
		cfg.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked++
			return permission.Answer{Allow: true, Scope: permission.ForSession, Digest: r.Digest}, nil
		}
	}, exclusive("x", nil))
	for _, args := range []string{`{"n":1}`, `{"n":1}`, `{"n":2}`} {
		d.Run(context.Background(), Call{Tool: "x", Args: json.RawMessage(args)})
	}
	if asked != 2 {
		t.Errorf("asked %d times, want once for each distinct call", asked)
	}
}

// hooks are the hooks of one event that are functions.
func hooks(e hook.Event, funcs ...hook.Func) *hook.Runner {
	var list []hook.Hook
	for _, f := range funcs {
		list = append(list, hook.Hook{Event: e, Func: f})
	}
	r, err := hook.New(hook.Config{Hooks: list})
	if err != nil {
		panic(err)
	}
	return r
}

func TestHooks(t *testing.T) {
	var got string
	x := exclusive("x", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		got = string(c.Args)
		return tool.Text("ran"), nil
	})
	before := func(d hook.Answer) func(*Config) {
		return func(c *Config) {
			c.Hooks = hooks(hook.PreToolUse, func(context.Context, hook.Input) (hook.Answer, error) { return d, nil })
		}
	}
	run := func(edit func(*Config)) *tool.Result {
		got = ""
		return open(t, edit, x).Run(context.Background(), Call{Tool: "x", Args: json.RawMessage(`{"n":1}`)})[0]
	}
	if r := run(before(hook.Answer{Verdict: hook.Deny, Reason: "no"})); r.Code != tool.CodeDenied || got != "" {
		t.Errorf("deny: %s %q", r.Code, got)
	}
	if r := run(before(hook.Answer{Args: json.RawMessage(`{"n":2}`)})); !r.OK || got != `{"n":2}` {
		t.Errorf("rewrite: %s %q", r.Code, got)
	}
	if r := run(before(hook.Answer{Args: json.RawMessage(`{"bad":2}`)})); r.Code != tool.CodeDenied || got != "" {
		t.Errorf("bad rewrite: %s %q", r.Code, got)
	}
	if r := run(before(hook.Answer{Verdict: hook.Ask})); r.Code != tool.CodeApprovalRequired || got != "" {
		t.Errorf("ask: %s %q", r.Code, got)
	}
	after := func(c *Config) {
		c.Hooks = hooks(hook.PostToolUse, func(context.Context, hook.Input) (hook.Answer, error) {
			return hook.Answer{Context: "look at line 3"}, nil
		})
	}
	if r := run(after); !strings.HasSuffix(r.Text, "[hook] look at line 3") {
		t.Errorf("feedback: %q", r.Text)
	}
}

func TestHookCannotMoveACallToAnotherQueue(t *testing.T) {
	k := fake{spec: tool.Spec{Name: "k", Effects: tool.Exec, Concurrency: tool.Keyed}, key: func(args json.RawMessage) string { return string(args) }}
	d := open(t, func(c *Config) {
		c.Hooks = hooks(hook.PreToolUse, func(context.Context, hook.Input) (hook.Answer, error) {
			return hook.Answer{Args: json.RawMessage(`{"n":2}`)}, nil
		})
	}, k)
	if r := d.Run(context.Background(), Call{Tool: "k", Args: json.RawMessage(`{"n":1}`)})[0]; r.Code != tool.CodeDenied {
		t.Errorf("code %s", r.Code)
	}
}

func TestF170_GuardShowsAValidCall(t *testing.T) {
	d := open(t, func(c *Config) { c.Guard = guard.New(guard.Enforce) }, fake{spec: tool.Spec{
		Name: "need", Effects: tool.Read, Concurrency: tool.Safe,
		Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"a path"}},"required":["path"],"additionalProperties":false}`),
	}})
	var last *tool.Result
	for range 5 {
		last = d.Run(context.Background(), Call{Tool: "need", Args: json.RawMessage(`{"pth":7}`)})[0]
	}
	if last.Code != tool.CodeDenied || !strings.Contains(last.Text, `"path"`) || last.Metadata["stop_turn"] == nil {
		t.Errorf("%s %q %v", last.Code, last.Text, last.Metadata)
	}
}

func TestL1_RepairsAreRecorded(t *testing.T) {
	var got string
	d := open(t, nil, safe("s", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		got = string(c.Args)
		return tool.Text(""), nil
	}))
	r := d.Run(context.Background(), Call{Tool: "s", Args: json.RawMessage(`{"n":"3"}`)})[0]
	if !r.OK || got != `{"n":3}` || len(r.Repairs) != 1 {
		t.Errorf("%s %s %v", r.Text, got, r.Repairs)
	}
}

func BenchmarkJourney(b *testing.B) {
	noop := safe("noop", nil)
	noop.spec.Input = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","minLength":1},"offset":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":1,"maximum":2000},"mode":{"type":"string","enum":["text","hex","auto"]},"tags":{"type":"array","items":{"type":"string"}},"opts":{"type":"object","properties":{"follow":{"type":"boolean"}},"additionalProperties":false}},"required":["path","mode"],"additionalProperties":false}`)
	d := open(b, func(c *Config) {
		c.Guard = guard.New(guard.Advise)
		c.Observe = func(Event) {}
	}, noop)
	call := Call{Tool: "noop", Args: json.RawMessage(`{"path":"/a/b","offset":0,"limit":10,"mode":"text","tags":["x","y"],"opts":{"follow":true}}`)}
	b.ReportAllocs()
	for b.Loop() {
		if r := d.Run(context.Background(), call)[0]; !r.OK {
			b.Fatal(r.Text)
		}
	}
}
