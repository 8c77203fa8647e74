package dispatch

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// crashing is a tool all of whose halves do what f does.
type crashing struct {
	fake
	half string
	f    func()
}

func (c crashing) Run(context.Context, *tool.Call) (*tool.Result, error) {
	if c.half == "run" {
		c.f()
	}
	return tool.Text(strings.Repeat("long ", 200)), nil
}

func (c crashing) Assess(context.Context, *tool.Call) (tool.Act, error) {
	if c.half == "assess" {
		c.f()
	}
	return tool.Act{}, nil
}

func (c crashing) Key(json.RawMessage) string {
	if c.half == "key" {
		c.f()
	}
	return "k"
}

func (c crashing) Resume(*tool.Call, tool.Cut) string {
	if c.half == "resume" {
		c.f()
	}
	return ""
}

// TestL7_WhateverCrashesCostsItsCall: a crash of a tool, a hook, the
// approver or the observer is a result, and the session goes on.
func TestL7_WhateverCrashesCostsItsCall(t *testing.T) {
	crashes := map[string]func(){
		"panic":     func() { panic("boom") },
		"no memory": func() { clear(([]int)(nil)[1:]) },
		"goexit":    runtime.Goexit,
	}
	for _, half := range []struct{ name, want string }{
		{"run", "panicked ok"}, {"assess", "panicked ok"}, {"key", "panicked ok"}, {"resume", "ok ok"},
		{"before-hook", "denied ok"}, {"after-hook", "ok ok"}, {"approver", "approval_required ok"}, {"observer", "ok ok"},
	} {
		for name, crash := range crashes {
			if name == "goexit" && (half.name == "key" || half.name == "resume" || half.name == "observer") {
				continue // they run in the goroutine of the call, which Go lets nobody keep alive
			}
			t.Run(half.name+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := open(t, func(c *Config) { crashIn(c, half.name, crash) },
						crashing{fake{spec: tool.Spec{Name: "c", Effects: tool.Exec, Concurrency: tool.Keyed, OutputBytes: 500}, source: "embedder"}, half.name, crash}, safe("s", nil))
					got := codes(d.Run(t.Context(), Call{Tool: "c"}, Call{Tool: "s"}))
					if got != half.want {
						t.Errorf("got %s, want %s", got, half.want)
					}
					if got := codes(d.Run(t.Context(), Call{Tool: "s"}, Call{Tool: "c"}, Call{Tool: "s"})); !strings.HasPrefix(got, "ok ") || !strings.HasSuffix(got, " ok") {
						t.Errorf("afterwards: %s", got)
					}
				})
			})
		}
	}
}

// crashIn makes one of the embedder's callbacks crash.
func crashIn(c *Config, what string, crash func()) {
	switch what {
	case "before-hook":
		c.Hooks = hooks(hook.PreToolUse, func(_ context.Context, call hook.Input) (hook.Answer, error) {
			if call.Tool == "c" {
				crash()
			}
			return hook.Answer{}, nil
		})
	case "after-hook":
		c.Hooks = hooks(hook.PostToolUse, func(context.Context, hook.Input) (hook.Answer, error) { crash(); return hook.Answer{}, nil })
	case "approver":
		c.Judge = &permission.Judge{}
		c.Approver = func(context.Context, permission.Request) (permission.Answer, error) {
			crash()
			return permission.Answer{Allow: true}, nil
		}
	case "observer":
		c.Observe = func(Event) { crash() }
	}
}

// TestL7_ObserverCrashesInATool: progress is reported from goroutines that
// nobody else guards.
func TestL7_ObserverCrashesInATool(t *testing.T) {
	d := open(t, func(c *Config) { c.Observe = func(Event) { panic("face") } },
		safe("p", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			var wg sync.WaitGroup
			wg.Go(func() { c.Progress(tool.Progress{Message: "half"}) })
			wg.Wait()
			return tool.Text("done"), nil
		}))
	r := d.Run(t.Context(), Call{Tool: "p", Progress: func(tool.Progress) { panic("caller") }})[0]
	if !r.OK || r.Text != "done" {
		t.Errorf("%s %q", r.Code, r.Text)
	}
}

// TestKeyIsAskedForDecodedArgumentsOnly: a crash of one call's key is no
// crash of the next, and a refused call has no arguments to ask about.
func TestKeyIsAskedForDecodedArgumentsOnly(t *testing.T) {
	k := fake{spec: tool.Spec{Name: "k", Effects: tool.Exec, Concurrency: tool.Keyed}, key: func(args json.RawMessage) string {
		if string(args) != `{"n":1}` {
			panic("no key in " + string(args))
		}
		return "1"
	}}
	d := open(t, nil, k, exclusive("x", nil), safe("s", nil))
	got := codes(d.Run(t.Context(), Call{Tool: "k", Args: json.RawMessage(`{"n":2}`)},
		Call{Tool: "k", Args: json.RawMessage(`{"n":1}`)}, Call{Tool: "x"}, Call{Tool: "s"}))
	if got != "panicked ok cancelled ok" {
		t.Error(got)
	}
}

// TestL14_WhatDoesNotAnswer: an assessment or an approver that neither
// returns nor heeds its context costs its call.
func TestL14_WhatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := exclusive("deaf", nil)
		deaf.source = "embedder"
		deaf.assess = func(*tool.Call) (tool.Act, error) { <-release; return tool.Act{}, nil }
		d := open(t, func(c *Config) { c.Timeout = time.Minute }, deaf, exclusive("x", nil))
		if got := codes(d.Run(t.Context(), Call{Tool: "deaf"})); got != "timeout" {
			t.Errorf("a deaf assessment: %s", got)
		}
		if got := codes(d.Run(t.Context(), Call{Tool: "x"})); got != "ok" {
			t.Errorf("after a deaf assessment: %s", got)
		}
		close(release)
	})
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ran := false
		d := open(t, func(c *Config) {
			c.Judge = &permission.Judge{}
			c.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
				<-release
				return permission.Answer{Allow: true, Digest: r.Digest}, nil
			}
		}, exclusive("x", func(context.Context, *tool.Call) (*tool.Result, error) { ran = true; return tool.Text(""), nil }))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		if got := codes(d.Run(ctx, Call{Tool: "x"})); got != "cancelled" {
			t.Errorf("a deaf approver: %s", got)
		}
		close(release)
		synctest.Wait()
		if ran {
			t.Error("a late approval ran the call")
		}
	})
}

// TestL14_StoppingAtTheVeryEnd: a tool that stops in the moment in which it
// is given up must not block the session for ever.
func TestL14_StoppingAtTheVeryEnd(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			late := func(context.Context, *tool.Call) (*tool.Result, error) {
				time.Sleep(time.Second + abandonAfter)
				return tool.Text("late"), nil
			}
			d := open(t, func(c *Config) { c.Timeout = time.Second }, exclusive("late", late), exclusive("x", nil))
			d.Run(t.Context(), Call{Tool: "late"})
			synctest.Wait()
			if got := d.Run(t.Context(), Call{Tool: "x"})[0]; !got.OK {
				t.Fatalf("the session is blocked: %s %q", got.Code, got.Text)
			}
		})
	}
}
