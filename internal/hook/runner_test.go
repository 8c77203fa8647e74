package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

func says(a Answer) Func { return func(context.Context, Input) (Answer, error) { return a, nil } }

func functions(t *testing.T, e Event, seen *reports, funcs ...Func) *Runner {
	t.Helper()
	c := Config{}
	if seen != nil {
		c.Observe = seen.observe
	}
	for _, f := range funcs {
		c.Hooks = append(c.Hooks, Hook{Event: e, Func: f})
	}
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestStrongestWordWins(t *testing.T) {
	no, yes, look := says(Answer{Verdict: Deny, Reason: "no"}), says(Answer{Verdict: Allow}), says(Answer{Verdict: Ask, Reason: "look"})
	for _, c := range []struct {
		name  string
		hooks []Func
		want  Verdict
	}{
		{"pass", []Func{says(Answer{})}, Pass},
		{"allow", []Func{says(Answer{}), yes}, Allow},
		{"ask beats allow", []Func{yes, look, yes}, Ask},
		{"deny beats ask", []Func{look, no, yes}, Deny},
		{"deny without a reason", []Func{says(Answer{Verdict: Deny})}, Deny},
		{"unknown verdict", []Func{says(Answer{Verdict: 9})}, Deny},
		{"error", []Func{func(context.Context, Input) (Answer, error) { return Answer{}, errors.New("broken") }}, Deny},
		{"panic", []Func{func(context.Context, Input) (Answer, error) { panic("boom") }}, Deny},
		{"ends its goroutine", []Func{func(context.Context, Input) (Answer, error) { runtime.Goexit(); return Answer{}, nil }}, Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := functions(t, PreToolUse, nil, c.hooks...).Run(t.Context(), Input{Event: PreToolUse, Tool: "x"})
			if got.Verdict != c.want || got.Verdict >= Ask && got.Reason == "" {
				t.Errorf("verdict %d (%q), want %d", got.Verdict, got.Reason, c.want)
			}
		})
	}
}

// The last in order is taken, however long the others take, and each only
// once.
func TestRewritesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ context.Context, in Input) (Answer, error) {
			time.Sleep(time.Second)
			return Answer{Verdict: Allow, Args: json.RawMessage(`{"n":1}`)}, nil
		}
		r := functions(t, PreToolUse, nil, slow, says(Answer{Args: json.RawMessage(`{"n":2}`)}), says(Answer{}))
		in := Input{Event: PreToolUse, Tool: "x", Args: json.RawMessage(`{"n":0}`)}
		o := r.Run(t.Context(), in)
		if string(o.Args) != `{"n":2}` || o.Rewriter != 1 || o.RewriterAllows {
			t.Fatalf("%+v", o)
		}
		in.Args, in.Rewritten = o.Args, []int{1}
		if o = r.Run(t.Context(), in); string(o.Args) != `{"n":1}` || o.Rewriter != 0 || !o.RewriterAllows {
			t.Fatalf("%+v", o)
		}
		in.Args, in.Rewritten = o.Args, []int{1, 0}
		if o = r.Run(t.Context(), in); o.Args != nil {
			t.Fatalf("a hook rewrote twice: %+v", o)
		}
	})
}

// An allow goes with the arguments that it was said about. A hook that allows
// what it makes of a call, and whose rewriting is not taken any more, has not
// allowed the call as another hook left it.
func TestAllowGoesWithItsRewriting(t *testing.T) {
	r := functions(t, PreToolUse, nil, says(Answer{Verdict: Allow, Args: json.RawMessage(`{"n":1}`)}), says(Answer{Args: json.RawMessage(`{"n":2}`)}))
	o := r.Run(t.Context(), Input{Event: PreToolUse, Tool: "x", Args: json.RawMessage(`{"n":2}`), Rewritten: []int{0, 1}})
	if o.Args != nil || o.Verdict != Pass {
		t.Errorf("%+v", o)
	}
}

// A hook that is shown a call in parts allows it where it allows each part.
func TestAllowOfAPartIsNoAllow(t *testing.T) {
	for _, c := range []struct {
		said []Verdict
		want Verdict
	}{
		{[]Verdict{Allow, Pass}, Pass}, {[]Verdict{Pass, Allow}, Pass}, {[]Verdict{Allow, Allow}, Allow}, {[]Verdict{Allow, Pass, Allow}, Pass},
		{[]Verdict{Allow, Ask}, Ask}, {[]Verdict{Ask, Allow}, Ask}, {[]Verdict{Allow, Deny, Pass}, Deny}, {[]Verdict{Pass, Pass}, Pass},
	} {
		all := Answer{Verdict: c.said[0]}
		for _, v := range c.said[1:] {
			all.join(&Answer{Verdict: v})
		}
		if all.Verdict != c.want {
			t.Errorf("%v is %d, want %d", c.said, all.Verdict, c.want)
		}
	}
}

// A gate that is asked once and fails has not been asked.
func TestOnceIsNotSpentByAFailure(t *testing.T) {
	r, err := New(Config{Hooks: []Hook{{Event: PreToolUse, Once: true, Func: func(context.Context, Input) (Answer, error) { return Answer{}, errors.New("broken") }}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * BreakerAfter {
		if o := r.Run(t.Context(), Input{Event: PreToolUse, Tool: "x"}); o.Verdict != Deny {
			t.Fatalf("try %d went past: %+v", i+1, o)
		}
	}
}

func TestSlowHookRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ Input) (Answer, error) {
			<-ctx.Done()
			return Answer{}, nil
		}
		start := time.Now()
		got := functions(t, PreToolUse, nil, slow, slow).Run(t.Context(), Input{Event: PreToolUse})
		if got.Verdict != Deny || time.Since(start) != DefaultTimeout {
			t.Errorf("verdict %d after %s: two slow hooks run at once", got.Verdict, time.Since(start))
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		broken := true
		f := func(context.Context, Input) (Answer, error) {
			calls.Add(1)
			if broken {
				return Answer{}, errors.New("no answer here")
			}
			return Answer{}, nil
		}
		seen := &reports{}
		r := functions(t, PreToolUse, seen, f)
		var o Outcome
		for range BreakerAfter + 4 {
			if o = r.Run(t.Context(), Input{Event: PreToolUse}); o.Verdict != Deny {
				t.Fatalf("a gate that fails lets through: %+v", o)
			}
		}
		if calls.Load() != BreakerAfter || !strings.Contains(o.Reason, "has failed 3 times in a row") || !strings.Contains(o.Reason, "no answer here") {
			t.Errorf("%d calls; %s", calls.Load(), o.Reason)
		}
		if n := len(seen.all); n != BreakerAfter || !seen.all[n-1].Tripped || seen.all[0].Tripped {
			t.Errorf("%+v", seen.all)
		}
		time.Sleep(breakerPause)
		broken = false
		for range 2 {
			if o = r.Run(t.Context(), Input{Event: PreToolUse}); o.Verdict != Pass {
				t.Errorf("a gate that was mended still refuses: %+v", o)
			}
		}
		// What is no gate is left out, and another session's hook is another.
		calls.Store(0)
		broken = true
		after := functions(t, PostToolUse, nil, f)
		for range 10 {
			if o = after.Run(t.Context(), Input{Event: PostToolUse, Result: tool.Text("")}); o.Verdict != Pass {
				t.Errorf("%+v", o)
			}
		}
		if calls.Load() != BreakerAfter {
			t.Errorf("%d calls of a hook that is left out", calls.Load())
		}
	})
}

// TestL64_BreakersAreASessionsOwn: what fails in one session is asked in
// another.
func TestL64_BreakersAreASessionsOwn(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	f := func(context.Context, Input) (Answer, error) {
		if broken.Load() {
			return Answer{}, errors.New("broken")
		}
		return Answer{}, nil
	}
	one, other := functions(t, PreToolUse, nil, f), functions(t, PreToolUse, nil, f)
	for range BreakerAfter {
		one.Run(t.Context(), Input{Event: PreToolUse})
	}
	broken.Store(false)
	if o := one.Run(t.Context(), Input{Event: PreToolUse}); o.Verdict != Deny {
		t.Errorf("the breaker did not trip: %+v", o)
	}
	if o := other.Run(t.Context(), Input{Event: PreToolUse}); o.Verdict != Pass {
		t.Errorf("the breaker of another session tripped: %+v", o)
	}
}

func TestAfterwards(t *testing.T) {
	seen := &reports{}
	r := functions(t, PostToolUse, seen,
		says(Answer{Verdict: Deny, Reason: strings.Repeat("x", 3000)}),
		func(context.Context, Input) (Answer, error) { return Answer{Context: "lost"}, errors.New("broken") },
		func(context.Context, Input) (Answer, error) { panic("boom") },
		says(Answer{Context: "kept", Message: "hello"}),
		says(Answer{Verdict: Deny, Reason: "also"}),
	)
	o := r.Run(t.Context(), Input{Event: PostToolUse, Result: tool.Text("")})
	if len(o.Feedback) != 2 || len(o.Feedback[0]) > MaxFeedback || o.Feedback[1] != "also" || len(o.Context) != 1 || o.Context[0] != "kept" {
		t.Errorf("%+v", o)
	}
	if len(seen.all) != 3 {
		t.Errorf("%+v", seen.all)
	}
}

func TestOnceAndTwice(t *testing.T) {
	r, _ := runner(t, Config{Hooks: []Hook{
		{Event: PreToolUse, Matcher: "Bash", Command: "echo x >> same"}, {Event: PreToolUse, Command: "echo x >> same"},
		{Event: PreToolUse, Command: "echo x >> once", Once: true},
	}})
	for range 2 {
		if o := r.Run(t.Context(), bash("ls")); o.Verdict != Pass {
			t.Fatalf("%+v", o)
		}
	}
	if same, once := lines(t, r, "same"), lines(t, r, "once"); same != 2 || once != 1 {
		t.Errorf("the same command ran %d times in 2 calls, the one that runs once %d times", same, once)
	}
}

// TestL74_Servers: what a server answers, and that it sends nobody elsewhere.
func TestL74_Servers(t *testing.T) {
	t.Setenv("HOOK_WORD", "sesame")
	var told map[string]any
	mux := http.NewServeMux()
	mux.HandleFunc("/deny", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &told); err != nil || r.Header.Get("Authorization") != "Bearer sesame" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v %v", err, r.Header)
		}
		_, _ = io.WriteString(w, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not here"}}`)
	})
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/500", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "sorry", http.StatusInternalServerError) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/empty", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then nobody notices that the client has gone
		<-r.Context().Done()
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxAnswer+1)) })
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]string{"/deny": "not here", "/empty": "", "/500": "500 Internal Server Error", "/away": "307", "/slow": "no answer within", "/long": "longer than"} {
		limit := time.Minute
		if path == "/slow" {
			limit = time.Second
		}
		r, _ := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, URL: server.URL + path, Timeout: limit,
			Headers: map[string]string{"Authorization": "Bearer ${HOOK_WORD}"}, AllowedEnv: []string{"HOOK_WORD"}}}})
		o := r.Run(t.Context(), bash("ls"))
		if (o.Verdict == Deny) != (want != "") || !strings.Contains(o.Reason, want) {
			t.Errorf("%s: %+v", path, o)
		}
	}
	if told["tool_name"] != "Bash" || told["hook_event_name"] != "PreToolUse" {
		t.Errorf("%v", told)
	}
	r, _ := runner(t, Config{Hooks: []Hook{{Event: PreToolUse, URL: "http://127.0.0.1:1/"}}})
	if o := r.Run(t.Context(), bash("ls")); o.Verdict != Deny || !strings.Contains(o.Reason, "was not reached") {
		t.Errorf("nobody listens: %+v", o)
	}
}

// A page is no answer of a server that must agree.
func TestAPageIsNoAnswer(t *testing.T) {
	page := "ok"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }))
	defer server.Close()
	r, err := New(Config{Hooks: []Hook{{Event: PreToolUse, URL: server.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	if o := r.Run(t.Context(), Input{Event: PreToolUse, Tool: "x"}); o.Verdict != Pass {
		t.Errorf("plain text: %+v", o)
	}
	page = "\n<!doctype html><title>Log in</title>"
	if o := r.Run(t.Context(), Input{Event: PreToolUse, Tool: "x"}); o.Verdict != Deny || !strings.Contains(o.Reason, "answered with a page") {
		t.Errorf("a page: %+v", o)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
