package plan

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

func TestSuite(t *testing.T) {
	tooltest.Run(t, UpdatePlan(), tooltest.Options{
		Examples: []tooltest.Example{
			{Args: `{"plan":[{"step":"look","status":"completed"},{"step":"act","status":"in_progress"}]}`},
			{Args: `{"plan":[{"step":"a","status":"pending"},{"step":"a","status":"pending"}]}`, Code: tool.CodeInvalidInput},
		},
	})
}

func run(t *testing.T, args string) (*tool.Result, error) {
	t.Helper()
	return UpdatePlan().Run(context.Background(), &tool.Call{Args: json.RawMessage(args)})
}

func TestUpdatePlan(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"one in progress", `[{"step":"look","status":"completed"},{"step":"act","status":"in_progress"}]`, "1 of 2 steps completed; in progress: act."},
		{"none in progress", `[{"step":"look","status":"pending"}]`, "0 of 1 steps completed; no step is in progress."},
		{"all done", `[{"step":"look","status":"completed"}]`, "1 of 1 steps completed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := run(t, `{"plan":`+c.plan+`,"explanation":"why"}`)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(r.Text, c.want) {
				t.Errorf("%q, want %q", r.Text, c.want)
			}
			if steps, _ := r.Metadata["plan"].([]step); len(steps) == 0 || r.Metadata["explanation"] != "why" {
				t.Errorf("the host does not get the plan: %v", r.Metadata)
			}
		})
	}
}

func TestMistakesAreReportedAtOnce(t *testing.T) {
	_, err := run(t, `{"plan":[{"step":"a","status":"in_progress"},{"step":" a ","status":"in_progress"},{"step":"  ","status":"pending"}]}`)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"steps 1 and 2 are the same", "steps 1, 2 are all in_progress", "step 3 is blank"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %q", want, err)
		}
	}
}
