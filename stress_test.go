package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestEverybodyAtOnce uses one session from many goroutines while its tools,
// rules and children change under them and it is closed in the end. Each
// call gets its result; the race detector watches.
func TestEverybodyAtOnce(t *testing.T) {
	s, err := handrail.Open(t.Context(), handrail.Options{
		Workspace: tree(t, map[string]string{"a.txt": "a\n"}), Guard: handrail.GuardOff,
		Permission: handrail.Permission{Mode: handrail.FullAccess}, OnEvent: func(handrail.Event) {},
		Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) {
			return handrail.HookAnswer{}, nil
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	each := func(n int, f func(i int)) {
		wg.Go(func() {
			for i := range n {
				f(i)
			}
		})
	}
	for range 4 {
		each(60, func(i int) {
			calls := []handrail.Call{
				{Tool: "read_file", Args: json.RawMessage(`{"path":"a.txt"}`)},
				{Tool: fmt.Sprintf("t%d", i%5), Args: json.RawMessage(`{}`)},
				{Tool: "write_file", Args: json.RawMessage(fmt.Sprintf(`{"path":"b%d.txt","content":"x"}`, i))},
			}
			for j, r := range s.Run(t.Context(), calls...) {
				if r == nil || r.OK != (r.Code == "") || r.Text == "" && !r.OK {
					t.Errorf("call %d: %+v", j, r)
				}
			}
		})
	}
	each(60, func(i int) {
		name := fmt.Sprintf("t%d", i%5)
		if i%2 == 0 {
			_ = s.Add(named(name, tool.Read)) // it may be there
		} else {
			s.Remove(name)
		}
		s.SetContext(name)
		s.Turn()
	})
	each(60, func(i int) {
		s.Specs()
		s.SpecsJSON()
		s.Explain(t.Context(), handrail.Call{Tool: "t1"})
		if i == 30 {
			if err := s.Restrict(handrail.Policy{Deny: []string{"t3?"}}); err != nil {
				t.Error(err)
			}
		}
	})
	each(15, func(i int) {
		c, err := s.Child(t.Context(), handrail.ChildOptions{Policy: handrail.Policy{Deny: []string{"effect:write"}}})
		if err != nil {
			t.Error(err)
			return
		}
		if r := run(c, "write_file", `{"path":"c.txt","content":"x"}`); r.OK {
			t.Error("a child wrote")
		}
		if i%2 == 0 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for range 3 {
		wg.Go(func() { run(s, "read_file", `{"path":"a.txt"}`) })
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestReentry: a hook or a tool that calls into its own session must not
// hang it: the inner call waits for the outer one's place until its time is
// up, and then both have ended.
func TestReentry(t *testing.T) {
	var s *handrail.Session
	inner := make(chan string, 10)
	again := func(ctx context.Context) { inner <- string(s.Run(ctx, handrail.Call{Tool: "x"})[0].Code) }
	deep := false
	x := fake{spec: tool.Spec{Name: "x", Effects: tool.Exec, Timeout: 200 * time.Millisecond}, run: func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		if !deep {
			deep = true
			again(ctx)
		}
		return tool.Text("ok"), ctx.Err()
	}}
	s = open(t, handrail.Options{Tools: []tool.Tool{x}, Permission: handrail.Permission{Mode: handrail.FullAccess}})
	if r := run(s, "x", `{}`); r.Code != tool.CodeTimeout {
		t.Errorf("a tool that calls itself: %q %s", r.Code, r.Text)
	}
	if got := <-inner; got == "" {
		t.Error("two exclusive calls ran at once")
	}
	if r := run(s, "x", `{}`); !r.OK {
		t.Errorf("afterwards: %q %s", r.Code, r.Text)
	}
}

// TestDeepAndLargeArguments: what is sent to exhaust the stack or memory is
// an error like any other, by every face.
func TestDeepAndLargeArguments(t *testing.T) {
	s := open(t, handrail.Options{Tools: []tool.Tool{named("x", tool.Read)}, Guard: handrail.GuardOff})
	client := dial(t, s)
	for name, args := range map[string]string{
		"deep lists":   `{"s":` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000) + `}`,
		"deep objects": strings.Repeat(`{"s":`, 150_000) + "1" + strings.Repeat("}", 150_000),
		"many keys":    `{"a":1` + strings.Repeat(`,"k":1`, 150_000) + `}`,
		"too large":    `{"s":"` + strings.Repeat("x", tool.MaxArgs) + `"}`,
		"long key":     `{"` + strings.Repeat("k", 500_000) + `":1}`,
		"long number":  `{"n":` + strings.Repeat("9", 500_000) + `}`,
		"deep text":    `{"s":"` + strings.Repeat(`[`, 400_000) + `","n":"` + strings.Repeat(`[`, 400_000) + `"}`,
	} {
		r := run(s, "x", args)
		if r.Code != tool.CodeInvalidInput && r.Code != tool.CodeTooLarge || len(r.Text) > tool.MaxErrorText {
			t.Errorf("%s: %q with %d bytes", name, r.Code, len(r.Text))
		}
		if code, text := callMCP(client, "x", args); code == "" || len(text) > 2*tool.MaxErrorText {
			t.Errorf("%s over MCP: %q with %d bytes", name, code, len(text))
		}
	}
	if code, text := callMCP(client, "x", `{"n":1}`); code != "" {
		t.Errorf("afterwards: %q %s", code, text)
	}
}

// TestRulesOutliveTheirTools: a session whose rules name a tool that was
// taken away can still have children, and the rules hold in them.
func TestRulesOutliveTheirTools(t *testing.T) {
	s := open(t, handrail.Options{
		Tools:      []tool.Tool{named("gone", tool.Read), named("kept", tool.Read)},
		Permission: handrail.Permission{Deny: []string{"gone", "kept"}}, Policy: handrail.Policy{Deny: []string{"gone"}},
	})
	s.Remove("gone")
	c := child(t, s, handrail.ChildOptions{})
	if r := run(c, "kept", `{}`); r.Code != tool.CodeDenied {
		t.Errorf("%q", r.Code)
	}
}
