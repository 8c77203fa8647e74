package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/test/clients/model"
	"github.com/handrail-tools/handrail/tool"
)

// good is what a client shows and our server records when all is well.
func good() (script []step, seen []model.Result, log []handrail.LogEntry) {
	script = []step{
		{name: "read", tool: "read_file", shows: []string{"42"}, hides: []string{"secret"}},
		{name: "image", tool: "view_image", image: true},
		{name: "denied", tool: "read_file", shows: []string{"refused"}, code: tool.CodeDenied},
		{name: "slow", tool: "grep", code: tool.CodeCancelled, theirs: true},
	}
	seen = []model.Result{{Text: "it is 42"}, {Images: []model.Image{{MIME: "image/png", Bytes: 4}}}, {Text: "refused", Failed: true}, {Text: "timed out"}}
	for _, s := range script {
		log = append(log, handrail.LogEntry{Tool: s.tool, OK: s.code == "", Code: s.code, Origin: tool.Origin{Kind: tool.OriginMCP}})
	}
	return script, seen, log
}

func TestAFailureNamesClientStepAndBoth(t *testing.T) {
	offered := func(names ...string) []model.Tool {
		var tools []model.Tool
		for _, n := range names {
			tools = append(tools, model.Tool{Name: n, Schema: []byte(`{"properties":{}}`)})
		}
		return tools
	}
	c := client{name: "some", shown: inFront("h_"), marksErrors: true}
	for _, tt := range []struct {
		name  string
		spoil func(seen *[]model.Result, log *[]handrail.LogEntry, tools *[]model.Tool)
		want  []string // one problem each, by a part of it; none: all is well
	}{
		{"all is well", func(*[]model.Result, *[]handrail.LogEntry, *[]model.Tool) {}, nil},
		{"a text is missing", func(s *[]model.Result, _ *[]handrail.LogEntry, _ *[]model.Tool) { (*s)[0].Text = "it is 41" },
			[]string{"some, read:\n  expected: the model sees \"42\"\n  seen:     it is 41"}},
		{"a text should be missing", func(s *[]model.Result, _ *[]handrail.LogEntry, _ *[]model.Tool) { (*s)[0].Text += " secret" },
			[]string{`read:` + "\n" + `  expected: the model does not see "secret"`}},
		{"no picture", func(s *[]model.Result, _ *[]handrail.LogEntry, _ *[]model.Tool) { (*s)[1].Images = nil }, []string{"image:\n  expected: the model sees one picture"}},
		{"an error that is none", func(s *[]model.Result, _ *[]handrail.LogEntry, _ *[]model.Tool) { (*s)[2].Failed = false }, []string{"denied:\n  expected: marked as an error: true"}},
		{"a result that is an error", func(s *[]model.Result, _ *[]handrail.LogEntry, _ *[]model.Tool) { (*s)[0].Failed = true }, []string{"read:\n  expected: marked as an error: false"}},
		{"no further result", func(s *[]model.Result, _ *[]handrail.LogEntry, _ *[]model.Tool) { *s = (*s)[:2] }, []string{"denied:\n  expected: a result reaches the model"}},
		{"a call that did not reach us", func(_ *[]model.Result, l *[]handrail.LogEntry, _ *[]model.Tool) { *l = (*l)[:3] }, []string{"slow:\n  expected: the server records grep"}},
		{"a call that was not cancelled", func(_ *[]model.Result, l *[]handrail.LogEntry, _ *[]model.Tool) { (*l)[3].OK, (*l)[3].Code = true, "" },
			[]string{`slow:` + "\n" + `  expected: the server records mcp grep "cancelled"`}},
		{"a call too many", func(_ *[]model.Result, l *[]handrail.LogEntry, _ *[]model.Tool) {
			*l = append(*l, handrail.LogEntry{Tool: "undo"})
		},
			[]string{"no call that was not asked for\n  seen:     undo"}},
		{"a tool that is not offered", func(_ *[]model.Result, _ *[]handrail.LogEntry, l *[]model.Tool) { *l = offered("h_a", "own") }, []string{"list:\n  expected: the model is offered h_b"}},
		{"a tool that is not ours", func(_ *[]model.Result, _ *[]handrail.LogEntry, l *[]model.Tool) { *l = offered("h_a", "h_b", "h_c") }, []string{"nothing in our name that is not ours\n  seen:     h_c"}},
		{"a tool without arguments", func(_ *[]model.Result, _ *[]handrail.LogEntry, l *[]model.Tool) { (*l)[1].Schema = []byte("{}") }, []string{"a schema of the arguments of h_b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script, seen, log := good()
			tools := offered("h_a", "h_b", "own")
			tt.spoil(&seen, &log, &tools)
			r := &report{who: c.name}
			r.tools(c, []string{"a", "b"}, tools)
			r.shown(c, script, seen)
			r.recorded(script, log)
			if len(r.problems) != len(tt.want) {
				t.Fatalf("%d problems, not %d: %q", len(r.problems), len(tt.want), r.problems)
			}
			for i, want := range tt.want {
				if !strings.Contains(r.problems[i], want) {
					t.Errorf("problem %q\nhas no %q", r.problems[i], want)
				}
			}
		})
	}
}

// TestScript plays the whole scenario: each result brings the next call, and
// the id that a cut result names goes into the call after it.
func TestScript(t *testing.T) {
	r := &run{client: client{shown: inFront("h_")}, script: steps}
	var seen model.Request
	for i, s := range steps {
		call := r.next(seen)
		if call == nil || call.Name != "h_"+s.tool {
			t.Fatalf("step %d is %+v, not %s", i, call, s.tool)
		}
		if s.tool == "recall" && !strings.Contains(string(call.Args), `"id":"r_abcdefgh2345"`) {
			t.Errorf("recall is called with %s", call.Args)
		}
		seen.Results = append(seen.Results, model.Result{Text: `call recall with {"id":"r_abcdefgh2345","start_line":3}`})
	}
	if call := r.next(seen); call != nil {
		t.Errorf("after the last step comes %+v", call)
	}
}

func TestChoose(t *testing.T) {
	all, err := choose(nil)
	if err != nil || len(all) != len(subjects()) {
		t.Errorf("without names: %d subjects, %v", len(all), err)
	}
	if some, err := choose([]string{"vscode", "claude"}); err != nil || len(some) != 2 || some[0].name != "claude" {
		t.Errorf("two names: %v, %v", some, err)
	}
	if _, err := choose([]string{"emacs"}); err == nil || !strings.Contains(err.Error(), "opencode") {
		t.Errorf("a name that is none: %v", err)
	}
}

// TestInterrupt: a program that ends by Ctrl-C does, with what it started,
// and one that is not ready in time is an error.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	c := command{dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, output: filepath.Join(dir, "out"), patience: time.Minute,
		args: []string{"sh", "-c", `trap 'exit 3' INT; echo ready; while :; do sleep 0.05; done`}}
	during := -1
	err := c.interrupt(t.Context(), func(ctx context.Context) error {
		defer func() { during = len(leftovers(dir)) }()
		return printed(c.output, "ready")(ctx)
	})
	if err != nil {
		t.Error(err)
	}
	if left := leftovers(dir); during == 0 || len(left) > 0 {
		t.Errorf("%d while it runs; left: %v", during, left)
	}
	c.args = []string{"sh", "-c", "echo early"}
	if err := c.interrupt(t.Context(), printed(c.output, "never")); err == nil || !strings.Contains(err.Error(), "ended before") {
		t.Errorf("a program that ends early: %v", err)
	}
}

// printed waits until a word stands in a file.
func printed(file, word string) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			if text, _ := os.ReadFile(file); strings.Contains(string(text), word) {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}
