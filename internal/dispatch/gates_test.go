package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// judge compiles rules for the tools of a test.
func judge(t *testing.T, c permission.Config, tools ...tool.Tool) *permission.Judge {
	t.Helper()
	r := registry.New()
	if err := r.AddAll(tools, registry.Options{}); err != nil {
		t.Fatal(err)
	}
	j, err := permission.New(c, names{r})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A tool that assesses paths which it does not declare to touch is judged by
// what it says, not by what it declares.
func TestAssessedPathsAreEffects(t *testing.T) {
	for name, act := range map[string]tool.Act{
		"writes":  {Effects: tool.Read, Writes: []string{"a"}},
		"hosts":   {Effects: tool.Read, Hosts: []string{"example.org"}},
		"command": {Effects: tool.Read, Command: "touch a"},
	} {
		t.Run(name, func(t *testing.T) {
			sly := safe("sly", nil)
			sly.assess = func(*tool.Call) (tool.Act, error) { return act, nil }
			if r := open(t, nil, sly).Run(t.Context(), Call{Tool: "sly"})[0]; r.Code != tool.CodeDenied {
				t.Errorf("it declares to read only: %q %s", r.Code, r.Text)
			}
			sly.spec.Effects, sly.spec.Concurrency = tool.AllEffects, tool.Exclusive
			d := open(t, func(c *Config) { c.Judge = &permission.Judge{} }, sly)
			if r := d.Run(t.Context(), Call{Tool: "sly"})[0]; r.Code != tool.CodeApprovalRequired {
				t.Errorf("in read-only mode: %q %s", r.Code, r.Text)
			}
		})
	}
}

// L35: a hook that wants a person asked asks nobody in a session that never
// asks.
func TestL35_AHookAsksNobodyWhereNobodyIsAsked(t *testing.T) {
	asked := false
	x := exclusive("x", nil)
	d := open(t, func(c *Config) {
		c.Judge = judge(t, permission.Config{Mode: permission.FullAccess, Approval: permission.Never}, x)
		c.Hooks = hooks(hook.PreToolUse, func(context.Context, hook.Input) (hook.Answer, error) { return hook.Answer{Verdict: hook.Ask}, nil })
		c.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked = true
			return permission.Answer{Allow: true, Digest: r.Digest}, nil
		}
	}, x)
	if r := d.Run(t.Context(), Call{Tool: "x"})[0]; r.Code != tool.CodeDenied || asked {
		t.Errorf("%s, somebody was asked: %v", r.Code, asked)
	}
}

// F170: the guard counts what the model sent, also where a hook rewrites it.
func TestF170_ARewritingHookDoesNotHideALoop(t *testing.T) {
	n := 0
	d := open(t, func(c *Config) {
		c.Guard = guard.New(guard.Enforce)
		c.Hooks = hooks(hook.PreToolUse, func(context.Context, hook.Input) (hook.Answer, error) {
			n++
			return hook.Answer{Args: json.RawMessage(`{"n":` + strings.Repeat("1", n) + `}`)}, nil
		})
	}, safe("s", func(context.Context, *tool.Call) (*tool.Result, error) { return nil, errors.New("broken") }))
	var last *tool.Result
	for range 4 {
		last = d.Run(t.Context(), Call{Tool: "s", Args: json.RawMessage(`{"n":7}`)})[0]
	}
	if last.Code != tool.CodeDenied || last.Metadata["loop"] != "repeated_failure" {
		t.Errorf("%s %q", last.Code, last.Text)
	}
}

// An explanation is not a try: it counts for nothing.
func TestExplainDoesNotFeedTheGuard(t *testing.T) {
	d := open(t, func(c *Config) { c.Guard = guard.New(guard.Enforce) },
		safe("s", func(context.Context, *tool.Call) (*tool.Result, error) { return nil, errors.New("broken") }))
	for range 3 {
		d.Run(t.Context(), Call{Tool: "s"})
	}
	for range 5 {
		d.Explain(t.Context(), Call{Tool: "s"})
	}
	if r := d.Run(t.Context(), Call{Tool: "s"})[0]; r.Code != tool.CodeDenied || r.Metadata["stop_turn"] != nil {
		t.Errorf("the first refused try: %s, %v", r.Code, r.Metadata)
	}
}

// Errors are texts for the model like any others.
func TestErrorsAreCleanedRedactedAndBounded(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	var known output.Redactor
	if err := known.Know("PASSWORD", secret); err != nil {
		t.Fatal(err)
	}
	long := &tool.Error{Code: tool.CodeFailed, Text: strings.Repeat("x", 3*tool.MaxErrorText)}
	for name, err := range map[string]error{
		"F193 control characters": errors.New("\x1b]52;c;eA==\a\x1b[2Jno\u202e"),
		"L71 a secret":            errors.New("no access with " + secret),
		"L3 a long text":          long,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, func(c *Config) { c.Redactor = &known },
				safe("s", func(context.Context, *tool.Call) (*tool.Result, error) { return nil, err }))
			text := d.Run(t.Context(), Call{Tool: "s"})[0].Text
			if strings.ContainsAny(text, "\x1b\a\u202e") || strings.Contains(text, secret) || len(text) > tool.MaxErrorText+200 || text == "" {
				t.Errorf("%d bytes: %.300q", len(text), text)
			}
		})
	}
}

// A hook that runs after the call gives feedback and changes nothing.
func TestAfterHookCannotChangeTheResult(t *testing.T) {
	d := open(t, func(c *Config) {
		c.Hooks = hooks(hook.PostToolUseFailure, func(_ context.Context, in hook.Input) (hook.Answer, error) {
			in.Result.OK, in.Result.Code, in.Result.Text = true, "", "all is well"
			clear(in.Args)
			return hook.Answer{}, nil
		})
	}, safe("s", func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{Text: "broken"}, nil }))
	if r := d.Run(t.Context(), Call{Tool: "s"})[0]; r.OK || r.Code != tool.CodeFailed || r.Text != "broken" {
		t.Errorf("%v %s %q", r.OK, r.Code, r.Text)
	}
}

// What was approved is what runs, whatever the approver and hooks do to the
// bytes that they are shown.
func TestNobodyChangesTheArgumentsInPlace(t *testing.T) {
	var got string
	d := open(t, func(c *Config) {
		c.Judge = &permission.Judge{}
		c.Hooks = hooks(hook.PreToolUse, func(_ context.Context, call hook.Input) (hook.Answer, error) {
			copy(call.Args, `{"n":666}`)
			return hook.Answer{}, nil
		})
		c.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
			copy(r.Args, `{"n":777}`)
			return permission.Answer{Allow: true, Digest: r.Digest}, nil
		}
	}, exclusive("x", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		got = string(c.Args)
		return tool.Text("ok"), nil
	}))
	if r := d.Run(t.Context(), Call{Tool: "x", Args: json.RawMessage(`{"n":111}`)})[0]; !r.OK || got != `{"n":111}` {
		t.Errorf("%s ran with %s", r.Code, got)
	}
}

// One result that a tool gives to several calls is not theirs to change.
func TestASharedResultStaysWhole(t *testing.T) {
	shared := &tool.Result{OK: true, Text: "same", Metadata: map[string]any{"k": 1}}
	d := open(t, func(c *Config) { c.Guard = guard.New(guard.Advise) },
		safe("s", func(context.Context, *tool.Call) (*tool.Result, error) { return shared, nil }))
	for range 3 {
		d.Run(t.Context(), Call{Tool: "s"}, Call{Tool: "s"}, Call{Tool: "s"})
	}
	if shared.Text != "same" || len(shared.Metadata) != 1 || shared.Duration != 0 {
		t.Errorf("the tool's own result became %+v", shared)
	}
}

// linker is a workspace with two folders, and a tool that makes "link" lead
// to one of them.
func linker(t *testing.T) (*workspace.Workspace, func(target string)) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"open", "closed"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, func(target string) {
		link := filepath.Join(dir, "link")
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Error(err)
		}
	}
}

func writer(ran *[]string) fake {
	w := exclusive("put", func(context.Context, *tool.Call) (*tool.Result, error) {
		*ran = append(*ran, "put")
		return tool.Text("written"), nil
	})
	w.assess = func(*tool.Call) (tool.Act, error) { return tool.Act{Writes: []string{"link/f"}}, nil }
	return w
}

// L39: what was judged must still be so when the call's turn comes. An
// earlier call of the same batch turns a link round.
func TestL39_AnEarlierCallCannotMoveAJudgedPath(t *testing.T) {
	w, point := linker(t)
	point("open")
	var ran []string
	put := writer(&ran)
	turn := exclusive("turn", func(context.Context, *tool.Call) (*tool.Result, error) {
		time.Sleep(20 * time.Millisecond) // the write is judged meanwhile
		point("closed")
		return tool.Text("turned"), nil
	})
	d := open(t, func(c *Config) {
		c.Workspace = w
		c.Judge = judge(t, permission.Config{Mode: permission.FullAccess, Deny: []string{"put(closed/**)"}}, put, turn)
	}, put, turn)
	if got := codes(d.Run(t.Context(), Call{Tool: "put"})); got != "ok" {
		t.Fatalf("while the link leads to an open folder: %s", got)
	}
	if got := codes(d.Run(t.Context(), Call{Tool: "turn"}, Call{Tool: "put"})); got != "ok denied" || len(ran) != 1 {
		t.Errorf("after the link was turned: %s, ran %v", got, ran)
	}
}

// What a person allowed for the session is a write to one place, not to
// wherever a link leads later; and what was taken away while the person
// thought stays away.
func TestApprovalCoversWhatWasShown(t *testing.T) {
	w, point := linker(t)
	point("open")
	var ran []string
	put := writer(&ran)
	var asked []string
	var meanwhile func()
	d := open(t, func(c *Config) {
		c.Workspace = w
		c.Judge = judge(t, permission.Config{}, put)
		c.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked = append(asked, r.Act.Writes...)
			if meanwhile != nil {
				meanwhile()
			}
			return permission.Answer{Allow: true, Scope: permission.ForSession, Digest: r.Digest}, nil
		}
	}, put)
	d.Run(t.Context(), Call{Tool: "put"})
	d.Run(t.Context(), Call{Tool: "put"})
	point("closed")
	d.Run(t.Context(), Call{Tool: "put"})
	if strings.Join(asked, " ") != "open/f closed/f" {
		t.Errorf("asked about %q", asked)
	}
	point("open")
	meanwhile = func() { meanwhile = nil; point("elsewhere"); d.View.Restrict(nil) }
	ran = nil
	args := json.RawMessage(`{"n":5}`)
	if r := d.Run(t.Context(), Call{Tool: "put", Args: args})[0]; r.Code != tool.CodeDenied || ran != nil {
		t.Errorf("a tool that was taken away while a person was asked: %s, ran %v", r.Code, ran)
	}
}

// TestHundredPendingApprovals: each answer counts for its own call, once,
// whatever order they come in.
func TestHundredPendingApprovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		pending := map[string]chan permission.Answer{}
		var ran []string
		d := open(t, func(c *Config) {
			c.Judge = &permission.Judge{}
			c.Approver = func(ctx context.Context, r permission.Request) (permission.Answer, error) {
				answer := make(chan permission.Answer, 1)
				mu.Lock()
				pending[r.Digest] = answer
				mu.Unlock()
				select {
				case a := <-answer:
					return a, nil
				case <-ctx.Done():
					return permission.Answer{}, ctx.Err()
				}
			}
		}, fake{spec: tool.Spec{Name: "k", Effects: tool.Exec, Concurrency: tool.Keyed}, key: func(a json.RawMessage) string { return string(a) },
			run: func(_ context.Context, c *tool.Call) (*tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, string(c.Args))
				return tool.Text("ok"), nil
			}})
		calls := make([]Call, 100)
		for i := range calls {
			n, err := json.Marshal(map[string]int{"n": i})
			if err != nil {
				t.Fatal(err)
			}
			calls[i] = Call{Tool: "k", Args: n}
		}
		done := make(chan []*tool.Result)
		go func() { done <- d.Run(t.Context(), calls...) }()
		synctest.Wait()
		if len(pending) != 100 {
			t.Fatalf("%d questions are pending", len(pending))
		}
		var first string
		for digest := range pending {
			first = digest
		}
		for digest, answer := range pending {
			answer <- permission.Answer{Allow: true, Digest: first} // the same yes for everybody
			_ = digest
		}
		ok, denied := 0, 0
		for _, r := range <-done {
			switch {
			case r.OK:
				ok++
			case r.Code == tool.CodeApprovalDenied:
				denied++
			}
		}
		if ok != 1 || denied != 99 || len(ran) != 1 {
			t.Errorf("%d ran, %d were refused; the tool saw %d", ok, denied, len(ran))
		}
	})
}

// A yes counts for one call. The same call asks again.
func TestAYesCountsOnce(t *testing.T) {
	var asked, ran int
	d := open(t, func(c *Config) {
		c.Judge = &permission.Judge{}
		c.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked++
			return permission.Answer{Allow: asked == 1, Digest: r.Digest}, nil
		}
	}, exclusive("x", func(context.Context, *tool.Call) (*tool.Result, error) { ran++; return tool.Text("ok"), nil }))
	if got := codes(d.Run(t.Context(), Call{Tool: "x"})) + " " + codes(d.Run(t.Context(), Call{Tool: "x"})); got != "ok approval_denied" || ran != 1 {
		t.Errorf("%s: asked %d, ran %d", got, asked, ran)
	}
}

// TestStructuredResultsAreHeldToTheirText: what reaches the client beside
// the text is redacted, bounded and as declared, or left out and said so.
func TestStructuredResultsAreHeldToTheirText(t *testing.T) {
	redactor := &output.Redactor{}
	if err := redactor.Know("KEY", "correct-horse-battery"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, declares, returns, want, note string }{
		{"as declared", `{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":9007199254740993}`, `{"n":9007199254740993}`, ""},
		{"a secret", `{"type":"object"}`, `{"k":"correct-horse-battery"}`, "", ""},
		{"undeclared", ``, `{"n":1}`, "", "declares none"},
		{"not JSON", `{"type":"object"}`, `not json`, "", "not valid JSON"},
		{"another type", `{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"x"}`, "", "not what"},
		{"too large", `{"type":"object"}`, `{"n":"` + strings.Repeat("x", 1<<20) + `"}`, "", "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := safe("s", func(context.Context, *tool.Call) (*tool.Result, error) {
				return &tool.Result{OK: true, Structured: json.RawMessage(c.returns)}, nil
			})
			if c.declares != "" {
				tl.spec.Output = json.RawMessage(c.declares)
			}
			r := open(t, func(cfg *Config) { cfg.Redactor = redactor }, tl).Run(context.Background(), Call{Tool: "s"})[0]
			if strings.Contains(string(r.Structured), "horse") || c.want != "" && string(r.Structured) != c.want || c.note != "" && (r.Structured != nil || !strings.Contains(r.Text, c.note)) {
				t.Errorf("structured %.100s, text %.200s", r.Structured, r.Text)
			}
		})
	}
}

// TestL26_PreflightSpeaksBeforeTheBackground: a tool that is marked for the
// background refuses bad arguments while the model can still see it.
func TestL26_PreflightSpeaksBeforeTheBackground(t *testing.T) {
	ran := false
	tl := tool.Typed[struct {
		N int `json:"n,omitempty" jsonschema:"a number"`
	}]{
		Spec: tool.Spec{Name: "long", Description: "Takes long.", Effects: tool.Pure},
		Handle: func(context.Context, *tool.Call, struct {
			N int `json:"n,omitempty" jsonschema:"a number"`
		}) (*tool.Result, error) {
			ran = true
			return tool.Text("ok"), nil
		},
		Preflight: func(context.Context, struct {
			N int `json:"n,omitempty" jsonschema:"a number"`
		}) error {
			return errors.New("n must be even")
		},
	}.Tool()
	r := registry.New()
	if err := r.Add(tl, registry.Options{Background: true}); err != nil {
		t.Fatal(err)
	}
	view, err := registry.NewView(r, registry.ViewConfig{})
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, func(c *Config) { c.View = view })
	got := d.Run(context.Background(), Call{Tool: "long"})[0]
	if got.Code != tool.CodeInvalidInput || got.Text != "n must be even" || ran {
		t.Errorf("%s %q, ran %v", got.Code, got.Text, ran)
	}
}

// While a person is asked for the second time, because a link was turned when
// the call's turn came, it is turned once more.
func TestEveryWaitIsFollowedByALook(t *testing.T) {
	for _, c := range []struct {
		name, want string
		deny       []string
	}{
		{"into what is denied", "denied", []string{"put(secret/**)"}},
		{"again and again", "denied", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, point := linker(t)
			if err := os.Mkdir(filepath.Join(w.Root(), "secret"), 0o755); err != nil {
				t.Fatal(err)
			}
			point("open")
			var ran, asked []string
			put := writer(&ran)
			d := open(t, func(cfg *Config) {
				cfg.Workspace = w
				cfg.Judge = judge(t, permission.Config{Deny: c.deny}, put)
				cfg.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
					asked = append(asked, r.Act.Writes...)
					switch {
					case c.deny != nil && len(asked) == 2:
						point("secret")
					default:
						point([]string{"open", "closed"}[len(asked)%2])
					}
					return permission.Answer{Allow: true, Digest: r.Digest}, nil
				}
			}, put)
			if got := codes(d.Run(t.Context(), Call{Tool: "put"})); got != c.want || ran != nil {
				t.Errorf("%s after the questions about %q, ran %v", got, asked, ran)
			}
		})
	}
}

// One hook allows a call in a person's place, and another makes a different
// call of it: what was allowed is not what would run.
func TestAHookAllowsWhatItHasSeen(t *testing.T) {
	var ran []string
	x := exclusive("x", func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		ran = append(ran, string(c.Args))
		return tool.Text("ran"), nil
	})
	asked := ""
	d := open(t, func(c *Config) {
		c.Judge = judge(t, permission.Config{}, x)
		c.Hooks = hooks(hook.PermissionRequest,
			func(context.Context, hook.Input) (hook.Answer, error) { return hook.Answer{Verdict: hook.Allow}, nil },
			func(context.Context, hook.Input) (hook.Answer, error) {
				return hook.Answer{Args: json.RawMessage(`{"n":2}`)}, nil
			})
		c.Approver = func(_ context.Context, r permission.Request) (permission.Answer, error) {
			asked = string(r.Args)
			return permission.Answer{Digest: r.Digest}, nil
		}
	}, x)
	if got := codes(d.Run(t.Context(), Call{Tool: "x", Args: json.RawMessage(`{"n":1}`)})); got != "approval_denied" || asked != `{"n":1}` || ran != nil {
		t.Errorf("%s, a person was asked about %q, ran %v", got, asked, ran)
	}
}

// A gate sees what a call means when its turn has come: an earlier call of the
// batch turns the link that the gate has seen lead to an open folder.
func TestAGateSeesWhatACallHasComeToMean(t *testing.T) {
	w, point := linker(t)
	point("open")
	var ran []string
	put := writer(&ran)
	turn := exclusive("turn", func(context.Context, *tool.Call) (*tool.Result, error) {
		time.Sleep(50 * time.Millisecond) // the gate looks at the write meanwhile
		point("closed")
		return tool.Text("turned"), nil
	})
	var mu sync.Mutex
	var seen []string
	d := open(t, func(c *Config) {
		c.Workspace = w
		c.Hooks = hooks(hook.PreToolUse, func(_ context.Context, in hook.Input) (hook.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			for _, path := range in.Writes {
				seen = append(seen, filepath.Base(filepath.Dir(path)))
				if strings.Contains(path, "/closed/") {
					return hook.Answer{Verdict: hook.Deny, Reason: "closed"}, nil
				}
			}
			return hook.Answer{}, nil
		})
	}, put, turn)
	if got := codes(d.Run(t.Context(), Call{Tool: "turn"}, Call{Tool: "put"})); got != "ok denied" || ran != nil || strings.Join(seen, " ") != "open closed" {
		t.Errorf("%s, ran %v; the gate has seen %v", got, ran, seen)
	}
}
