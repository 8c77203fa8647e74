package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/tool"
)

// countingLedger counts what is kept.
type countingLedger struct{ kept int }

func (l *countingLedger) Put(context.Context, store.Entry) (string, error) {
	l.kept++
	return "r_aaaaaaaaaaaa", nil
}

func shows(text string) Action {
	return func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text(text), nil }
}

func TestRunInsteadTakesTheSameWay(t *testing.T) {
	var events []Event
	kept := &countingLedger{}
	var r output.Redactor
	if err := r.Know("DB", "hunter2-hunter2"); err != nil {
		t.Fatal(err)
	}
	reader := fake{spec: tool.Spec{Name: "reader", Effects: tool.Read, Concurrency: tool.Safe, Verbatim: true, OutputBytes: 100}, run: func(context.Context, *tool.Call) (*tool.Result, error) {
		t.Error("the tool itself has run")
		return tool.Text(""), nil
	}}
	stranger := safe("stranger", nil)
	stranger.source = "embedder"
	d := open(t, func(c *Config) {
		c.Observe = func(e Event) { events = append(events, e) }
		c.Ledger, c.Redactor, c.Guard = kept, &r, guard.New(guard.Enforce)
	}, reader, stranger)

	long := strings.Repeat("a line\x1b[31m\n", 100)
	for range 20 { // a loop would be refused
		got, err := d.RunInstead(t.Context(), Call{Tool: "reader"}, shows(long+"hunter2-hunter2"))
		if err != nil || !strings.HasPrefix(got.Text, long+"[redacted: ") || strings.Contains(got.Text, "hunter2-hunter2") || got.Omitted != 0 || got.ID != "" {
			t.Fatalf("%+v, %v", got, err)
		}
		if notes, _ := got.Metadata[NotesKey].([]string); len(notes) != 1 || notes[0] != output.NoteReplaced {
			t.Fatalf("notes %q", notes)
		}
	}
	if kept.kept != 0 {
		t.Errorf("%d results were kept", kept.kept)
	}
	if last := events[len(events)-1]; last.Phase != PhaseFinished || last.Tool != "reader" || !last.Result.OK || last.CallID != "resource_20" {
		t.Errorf("%+v", last)
	}

	for name, c := range map[string]struct {
		call Call
		act  Action
		code tool.Code
		step string
	}{
		"a stranger's":  {Call{Tool: "stranger"}, shows("x"), tool.CodeDenied, "resolve"},
		"none":          {Call{Tool: "none"}, shows("x"), tool.CodeUnknownTool, "resolve"},
		"bad arguments": {Call{Tool: "reader", Args: []byte(`{"x":1}`)}, shows("x"), tool.CodeInvalidInput, "decode"},
		"large ones":    {Call{Tool: "reader", Args: []byte(strings.Repeat(" ", tool.MaxArgs+1))}, shows("x"), tool.CodeTooLarge, "size"},
		"a panic":       {Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) { panic("boo") }, tool.CodePanicked, "run"},
		"no result":     {Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil }, tool.CodeFailed, "run"},
		"its own code":  {Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) { return &tool.Result{Text: "no"}, nil }, tool.CodeFailed, ""},
		"a secret inside": {Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) {
			return &tool.Result{OK: true, Media: []tool.Media{{MIME: "image/png", Data: []byte("\x89PNGhunter2-hunter2")}}}, nil
		}, tool.CodeDenied, "bound"},
	} {
		events = nil
		got, err := d.RunInstead(t.Context(), c.call, c.act)
		var e *tool.Error
		if !errors.As(err, &e) || e.Code != c.code || got != nil || strings.Contains(e.Text, "hunter2-hunter2") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if last := events[len(events)-1]; last.Phase != PhaseFinished || last.Step != c.step || last.Result.OK {
			t.Errorf("%s: event %+v", name, last)
		}
	}
	cause := tool.Failf("it is not there: %w", fs.ErrNotExist)
	if _, err := d.RunInstead(t.Context(), Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) { return nil, cause }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestRunInsteadIsJudgedByTheAct(t *testing.T) {
	reader := fake{spec: tool.Spec{Name: "reader", Effects: tool.Read | tool.Network, Concurrency: tool.Safe}, assess: func(*tool.Call) (tool.Act, error) {
		return tool.Act{Effects: tool.Read | tool.Network, Hosts: []string{"example.com"}}, nil
	}}
	ran := false
	judge, err := permission.New(permission.Config{Mode: permission.ReadOnly}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, func(c *Config) { c.Judge = judge }, reader)
	_, err = d.RunInstead(t.Context(), Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) {
		ran = true
		return tool.Text(""), nil
	})
	var e *tool.Error
	if !errors.As(err, &e) || e.Code != tool.CodeApprovalRequired || ran {
		t.Errorf("%v, ran %t", err, ran)
	}
}

// An action that does not stop when its time is over costs its call, and what
// it returns later is nobody's.
func TestRunInsteadHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, func(c *Config) { c.Timeout = time.Second }, safe("reader", nil))
		ended := make(chan struct{})
		_, err := d.RunInstead(t.Context(), Call{Tool: "reader"}, func(context.Context, *tool.Call) (*tool.Result, error) {
			defer close(ended)
			time.Sleep(time.Minute)
			return tool.Text("late"), nil
		})
		var e *tool.Error
		if !errors.As(err, &e) || e.Code != tool.CodeTimeout {
			t.Errorf("%v", err)
		}
		<-ended
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.RunInstead(ctx, Call{Tool: "reader"}, shows("x")); !errors.As(err, &e) || e.Code != tool.CodeCancelled {
			t.Errorf("%v", err)
		}
	})
}
