package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// pages are rules for always, in memory.
type pages struct {
	mu    sync.Mutex
	rules []permission.Grant
	fails error
}

func (b *pages) Rules() ([]permission.Grant, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rules), fmt.Sprint(len(b.rules)), nil
}

func (b *pages) Stamp() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprint(len(b.rules))
}

func (b *pages) Keep(rules []permission.Grant) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails == nil {
		b.rules = append(b.rules, rules...)
	}
	return b.fails
}

func (b *pages) Drop(rule string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.rules)
	b.rules = slices.DeleteFunc(b.rules, func(g permission.Grant) bool { return g.Rule == rule })
	return len(b.rules) < before, nil
}

// runner is a tool that runs the command it is given, and says so.
func runner(ran *[]string, mu *sync.Mutex) tool.Tool {
	return tool.Typed[struct {
		Command string `json:"command"`
	}]{
		Spec: tool.Spec{Name: "shell", Description: "Runs a command.", Effects: tool.Read | tool.Write | tool.Exec},
		Assess: func(_ context.Context, in struct {
			Command string `json:"command"`
		}) (tool.Act, error) {
			return tool.Act{Effects: tool.Read | tool.Write | tool.Exec, Command: in.Command}, nil
		},
		Handle: func(_ context.Context, _ *tool.Call, in struct {
			Command string `json:"command"`
		}) (*tool.Result, error) {
			mu.Lock()
			*ran = append(*ran, in.Command)
			mu.Unlock()
			return tool.Text("ran " + in.Command), nil
		},
	}.Tool()
}

// shellOnly are the names of a session with one tool.
type shellOnly struct{}

func (shellOnly) Resolve(name string) (*tool.Spec, bool) {
	return &tool.Spec{Name: "shell", Effects: tool.Read | tool.Write | tool.Exec}, name == "shell"
}

func (shellOnly) Names() []string { return []string{"shell"} }

// desk is a dispatcher with one shell, and what came of it.
type desk struct {
	*Dispatcher
	mu     sync.Mutex
	ran    []string
	asked  []permission.Request
	events []string
	book   *pages
	live   *permission.Live
}

// sit opens a desk whose person answers by the function.
func sit(t *testing.T, c permission.Config, person permission.Approver, edit func(*Config)) *desk {
	t.Helper()
	k := &desk{book: &pages{}}
	k.Dispatcher = open(t, func(cfg *Config) {
		var err error
		if k.live, err = permission.NewLive(c, shellOnly{}, k.book); err != nil {
			t.Fatal(err)
		}
		cfg.Judge = k.live
		cfg.Approver = func(ctx context.Context, r permission.Request) (permission.Answer, error) {
			k.mu.Lock()
			k.asked = append(k.asked, r)
			k.mu.Unlock()
			return person(ctx, r)
		}
		cfg.Observe = func(e Event) {
			k.mu.Lock()
			defer k.mu.Unlock()
			if e.Phase == PhaseAsked || e.Phase == PhaseAnswered {
				k.events = append(k.events, strings.TrimSpace(string(e.Phase)+" "+e.Answer))
			}
		}
		if edit != nil {
			edit(cfg)
		}
	}, runner(&k.ran, &k.mu))
	return k
}

func command(text string) Call {
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	return Call{Tool: "shell", Args: args}
}

func allowing(scope permission.Scope) permission.Approver {
	return func(_ context.Context, r permission.Request) (permission.Answer, error) {
		return permission.Answer{Allow: true, Scope: scope, Digest: r.Digest, By: "test"}, nil
	}
}

func (k *desk) check(t *testing.T, results []*tool.Result, codesWant, ran, events string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if got := codes(results); got != codesWant {
		t.Errorf("results %q, want %q", got, codesWant)
	}
	if got := strings.Join(k.ran, "; "); got != ran {
		t.Errorf("ran %q, want %q", got, ran)
	}
	if got := strings.Join(k.events, ", "); got != events {
		t.Errorf("events %q, want %q", got, events)
	}
}

// TestAlwaysWritesARule: the rule is written, the call runs by it, and so does
// the next one in the session; nothing else does.
func TestAlwaysWritesARule(t *testing.T) {
	k := sit(t, permission.Config{}, allowing(permission.ForAlways), nil)
	r := k.Run(t.Context(), command("go build ./..."))
	k.check(t, r, "ok", "go build ./...", "asked, answered always")
	if len(k.book.rules) != 1 || k.book.rules[0].Rule != "shell(go build ./...)" || k.book.rules[0].By != "test" || k.book.rules[0].Summary == "" {
		t.Fatalf("kept %+v", k.book.rules)
	}
	r = k.Run(t.Context(), command("go  build ./..."))
	k.check(t, r, "ok", "go build ./...; go  build ./...", "asked, answered always")
	k.Approver = func(context.Context, permission.Request) (permission.Answer, error) {
		return permission.Answer{}, permission.ErrNobody
	}
	events := "asked, answered always"
	for _, other := range []string{"go build ./... -o x", "go build ./...; touch x", "go build ./... >f", "go build", "sudo go build ./...", "PATH=. go build ./..."} {
		events += ", asked, answered none"
		k.check(t, k.Run(t.Context(), command(other)), "approval_required", "go build ./...; go  build ./...", events)
	}
}

func TestAlwaysThatCannotBe(t *testing.T) {
	t.Run("the rule cannot be written", func(t *testing.T) {
		k := sit(t, permission.Config{}, allowing(permission.ForAlways), nil)
		k.book.fails = errors.New("the disk is full")
		k.check(t, k.Run(t.Context(), command("make")), "approval_required", "", "asked, answered always")
	})
	t.Run("a rule that was not offered", func(t *testing.T) {
		for _, offer := range []int{-1, 1, 1 << 30} {
			k := sit(t, permission.Config{}, func(_ context.Context, r permission.Request) (permission.Answer, error) {
				return permission.Answer{Allow: true, Scope: permission.ForAlways, Offer: offer, Digest: r.Digest}, nil
			}, nil)
			k.check(t, k.Run(t.Context(), command("make")), "approval_denied", "", "asked, answered always")
		}
	})
	t.Run("an ask rule, a hook and what is not known have no offer", func(t *testing.T) {
		k := sit(t, permission.Config{Ask: []string{"shell(make *)"}}, allowing(permission.ForAlways), nil)
		k.check(t, k.Run(t.Context(), command("make")), "approval_denied", "", "asked, answered always")
		k.check(t, k.Run(t.Context(), command("ls $X >f")), "approval_denied", "", "asked, answered always, asked, answered always")
		k = sit(t, permission.Config{Mode: permission.FullAccess}, allowing(permission.ForAlways), func(c *Config) {
			c.Hooks = hooks(hook.PreToolUse, func(context.Context, hook.Input) (hook.Answer, error) { return hook.Answer{Verdict: hook.Ask}, nil })
		})
		k.check(t, k.Run(t.Context(), command("make")), "approval_denied", "", "asked, answered always")
	})
}

// TestEditIsANewAct: what a person types in the place of a command goes the
// whole way again, and what runs is what was approved last.
func TestEditIsANewAct(t *testing.T) {
	edits := func(to ...string) permission.Approver {
		return func(_ context.Context, r permission.Request) (permission.Answer, error) {
			if len(to) == 0 {
				return permission.Answer{Allow: true, Digest: r.Digest}, nil
			}
			args := command(to[0]).Args
			to = to[1:]
			return permission.Answer{Args: args, Allow: true, Scope: permission.ForSession, Digest: r.Digest}, nil
		}
	}
	t.Run("asked about again", func(t *testing.T) {
		k := sit(t, permission.Config{}, edits("make test", "make check"), nil)
		r := k.Run(t.Context(), command("make all"))
		k.check(t, r, "ok", "make check", "asked, answered edited, asked, answered edited, asked, answered once")
		if k.asked[2].Act.Command != "make check" || k.asked[2].ID == k.asked[0].ID || !strings.Contains(r[0].Text, `to {"command":"make check"}`) {
			t.Errorf("asked about %q; the model reads %q", k.asked[2].Act.Command, r[0].Text)
		}
	})
	t.Run("into what is denied", func(t *testing.T) {
		k := sit(t, permission.Config{Deny: []string{"shell(rm *)"}}, edits("rm -rf x"), nil)
		k.check(t, k.Run(t.Context(), command("make")), "denied", "", "asked, answered edited")
	})
	t.Run("into what is allowed", func(t *testing.T) {
		k := sit(t, permission.Config{Allow: []string{"shell(make test)"}}, edits("make test"), nil)
		k.check(t, k.Run(t.Context(), command("make all")), "ok", "make test", "asked, answered edited")
	})
	t.Run("into what does not fit", func(t *testing.T) {
		for _, args := range []string{`{`, `{"command":1,"x":2}`, `[]`, ``} {
			k := sit(t, permission.Config{}, func(_ context.Context, r permission.Request) (permission.Answer, error) {
				return permission.Answer{Args: []byte(args), Digest: r.Digest}, nil
			}, nil)
			k.check(t, k.Run(t.Context(), command("make")), "denied", "", "asked, answered edited")
		}
	})
	t.Run("too large", func(t *testing.T) {
		k := sit(t, permission.Config{}, edits(strings.Repeat("x", tool.MaxArgs)), nil)
		k.check(t, k.Run(t.Context(), command("make")), "too_large", "", "asked, answered edited")
	})
	t.Run("past a hook", func(t *testing.T) {
		k := sit(t, permission.Config{}, edits("secret"), func(c *Config) {
			c.Hooks = hooks(hook.PreToolUse, func(_ context.Context, c hook.Input) (hook.Answer, error) {
				if strings.Contains(string(c.Args), "secret") {
					return hook.Answer{Verdict: hook.Deny, Reason: "no"}, nil
				}
				return hook.Answer{}, nil
			})
		})
		k.check(t, k.Run(t.Context(), command("make")), "denied", "", "asked, answered edited")
	})
	t.Run("for ever", func(t *testing.T) {
		k := sit(t, permission.Config{}, func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return permission.Answer{Args: command("make").Args, Digest: r.Digest}, nil
		}, nil)
		if got := codes(k.Run(t.Context(), command("make"))); got != "approval_denied" || len(k.asked) != maxEdits+1 || k.ran != nil {
			t.Errorf("%s after %d questions, ran %q", got, len(k.asked), k.ran)
		}
	})
}

// TestAnswerUnderOtherRules: an answer that was given while the rules changed
// is void; the call is judged by the rules as they are, and asked about anew.
func TestAnswerUnderOtherRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var k *desk
		first := true
		k = sit(t, permission.Config{}, func(ctx context.Context, r permission.Request) (permission.Answer, error) {
			if first {
				first = false
				select {
				case <-ctx.Done():
					if context.Cause(ctx) != permission.ErrRulesChanged {
						t.Error(context.Cause(ctx))
					}
				case <-release:
				}
				// A face that does not listen answers all the same.
			}
			return permission.Answer{Allow: true, Digest: r.Digest}, nil
		}, nil)
		go func() {
			synctest.Wait()
			if err := k.live.Keep([]permission.Grant{{Rule: "shell(other)"}}); err != nil {
				t.Error(err)
			}
			close(release)
		}()
		k.check(t, k.Run(t.Context(), command("make")), "ok", "make", "asked, answered void, asked, answered once")
		if k.asked[0].Policy == k.asked[1].Policy || k.asked[0].Digest == k.asked[1].Digest {
			t.Error("the two questions cannot be told apart")
		}
		// The first question's answer is not one to the second.
		if err := k.live.Keep([]permission.Grant{{Rule: "shell(once more)"}}); err != nil {
			t.Fatal(err)
		}
		old := k.asked[0].Digest
		k.Approver = func(context.Context, permission.Request) (permission.Answer, error) {
			return permission.Answer{Allow: true, Digest: old}, nil
		}
		if got := codes(k.Run(t.Context(), command("make"))); got != "approval_denied" {
			t.Errorf("a replayed answer: %s", got)
		}
	})
}

// TestAlwaysAnswersWhoeverWaitsForTheSame: the rule of one answer lets the
// other calls run that it covers, without a second question being answered.
func TestAlwaysAnswersWhoeverWaitsForTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		k := sit(t, permission.Config{}, func(ctx context.Context, r permission.Request) (permission.Answer, error) {
			if asked.Add(1) == 3 {
				return permission.Answer{Allow: true, Scope: permission.ForAlways, Digest: r.Digest}, nil
			}
			<-ctx.Done()
			return permission.Answer{}, context.Cause(ctx)
		}, nil)
		r := k.Run(t.Context(), command("make"), command("make"), command("make"))
		if codes(r) != "ok ok ok" || len(k.ran) != 3 || asked.Load() != 3 {
			t.Errorf("%s, ran %q after %d questions", codes(r), k.ran, asked.Load())
		}
	})
}

// TestQuestionExpires: waiting has no deadline but its own, and an answer that
// comes after it runs nothing.
func TestQuestionExpires(t *testing.T) {
	for _, c := range []struct {
		name         string
		within, take time.Duration
		want, ran    string
		events       string
	}{
		{"in time", time.Hour, time.Hour - 1, "ok", "make", "asked, answered once"},
		{"at the end", time.Hour, time.Hour, "approval_required", "", "asked, answered expired"},
		{"late", time.Hour, 2 * time.Hour, "approval_required", "", "asked, answered expired"},
		{"a week without an end", 0, 7 * 24 * time.Hour, "ok", "make", "asked, answered once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := sit(t, permission.Config{}, func(_ context.Context, r permission.Request) (permission.Answer, error) {
					time.Sleep(c.take) // and does not listen
					return permission.Answer{Allow: true, Digest: r.Digest}, nil
				}, func(cfg *Config) { cfg.AskFor, cfg.Timeout = c.within, time.Second })
				k.check(t, k.Run(t.Context(), command("make")), c.want, c.ran, c.events)
				time.Sleep(3 * time.Hour)
				if got := strings.Join(k.ran, "; "); got != c.ran {
					t.Errorf("later ran %q", got)
				}
			})
		})
	}
}

// TestGrantForATime holds for the time that the person has given it.
func TestGrantForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := sit(t, permission.Config{}, func(_ context.Context, r permission.Request) (permission.Answer, error) {
			return permission.Answer{Allow: true, Scope: permission.ForSession, For: time.Minute, Digest: r.Digest, By: "test"}, nil
		}, nil)
		run := func() int {
			if got := codes(k.Run(t.Context(), command("make"))); got != "ok" {
				t.Fatal(got)
			}
			return len(k.asked)
		}
		run()
		if run() != 1 {
			t.Error("it does not hold")
		}
		g := k.Grants()
		if len(g) != 1 || g[0].Tool != "shell" || g[0].By != "test" || g[0].Scope != permission.ForSession {
			t.Fatalf("%+v", g)
		}
		time.Sleep(time.Minute)
		if run() != 2 || len(k.Grants()) != 1 {
			t.Error("it holds for longer")
		}
		if !k.Revoke(k.Grants()[0].ID) || run() != 3 {
			t.Error("it cannot be taken back")
		}
	})
}

// TestClaw23_AnswerOfAnotherSession: the same call in another session is
// another question.
func TestClaw23_AnswerOfAnotherSession(t *testing.T) {
	var first permission.Request
	a := sit(t, permission.Config{}, func(_ context.Context, r permission.Request) (permission.Answer, error) {
		first = r
		return permission.Answer{Allow: true, Digest: r.Digest}, nil
	}, nil)
	call := command("make")
	call.ID = "c"
	a.Run(t.Context(), call)
	b := sit(t, permission.Config{}, func(context.Context, permission.Request) (permission.Answer, error) {
		return permission.Answer{Allow: true, Digest: first.Digest}, nil
	}, func(c *Config) { c.Session = "another" })
	b.check(t, b.Run(t.Context(), call), "approval_denied", "", "asked, answered void")
	if first.Session != "s" || first.CallID != "c" || b.asked[0].Session != "another" {
		t.Errorf("%+v", first)
	}
}
