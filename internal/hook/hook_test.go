package hook

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

func says(d Decision) Before {
	return func(context.Context, Call) (Decision, error) { return d, nil }
}

func TestRunBeforeStrongestWins(t *testing.T) {
	for _, c := range []struct {
		name  string
		hooks []Before
		want  Verdict
	}{
		{"none", nil, Pass},
		{"pass", []Before{says(Decision{})}, Pass},
		{"ask then pass", []Before{says(Decision{Verdict: Ask, Reason: "look"}), says(Decision{})}, Ask},
		{"pass then deny", []Before{says(Decision{}), says(Decision{Verdict: Deny, Reason: "no"})}, Deny},
		{"unknown verdict", []Before{says(Decision{Verdict: 9})}, Deny},
		{"error", []Before{func(context.Context, Call) (Decision, error) { return Decision{}, errors.New("broken") }}, Deny},
		{"panic", []Before{func(context.Context, Call) (Decision, error) { panic("boom") }}, Deny},
		{"ends its goroutine", []Before{func(context.Context, Call) (Decision, error) { runtime.Goexit(); return Decision{}, nil }}, Deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Set{Before: c.hooks}.RunBefore(context.Background(), Call{})
			if got.Verdict != c.want {
				t.Errorf("verdict %d (%s), want %d", got.Verdict, got.Reason, c.want)
			}
			if got.Verdict != Pass && got.Reason == "" {
				t.Error("no reason is given")
			}
		})
	}
}

func TestRunBeforeRewritesInTurn(t *testing.T) {
	add := func(s string) Before {
		return func(_ context.Context, c Call) (Decision, error) {
			return Decision{Args: json.RawMessage(string(c.Args) + s)}, nil
		}
	}
	got := Set{Before: []Before{add("1"), says(Decision{}), add("2")}}.RunBefore(context.Background(), Call{Args: json.RawMessage("0")})
	if string(got.Args) != "012" {
		t.Errorf("arguments %s", got.Args)
	}
}

func TestSlowHookRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ Call) (Decision, error) {
			<-ctx.Done()
			return Decision{}, nil
		}
		start := time.Now()
		got := Set{Before: []Before{slow}}.RunBefore(context.Background(), Call{})
		if got.Verdict != Deny || time.Since(start) != DefaultTimeout {
			t.Errorf("verdict %d after %s", got.Verdict, time.Since(start))
		}
	})
}

func TestRunAfter(t *testing.T) {
	s := Set{After: []After{
		func(context.Context, Call, *tool.Result) (string, error) { return strings.Repeat("x", 3000), nil },
		func(context.Context, Call, *tool.Result) (string, error) { return "lost", errors.New("broken") },
		func(context.Context, Call, *tool.Result) (string, error) { panic("boom") },
		func(context.Context, Call, *tool.Result) (string, error) { return "kept", nil },
	}}
	feedback, errs := s.RunAfter(context.Background(), Call{}, tool.Text(""))
	if len(feedback) != 2 || len(feedback[0]) > MaxFeedback || feedback[1] != "kept" {
		t.Errorf("feedback %d", len(feedback))
	}
	if len(errs) != 2 {
		t.Errorf("errors %v", errs)
	}
}
