// Package plan holds the tool by which an agent writes down what it is about
// to do.
package plan

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

//go:embed update_plan.md
var updatePlanWords string

type planArgs struct {
	Plan        []step `json:"plan" jsonschema:"all the steps, in order; the whole plan each time" min:"1" max:"100"`
	Explanation string `json:"explanation,omitempty" jsonschema:"why the plan has changed"`
}

type step struct {
	Step   string `json:"step" jsonschema:"what is done in this step, in a few words" min:"1" max:"1000"`
	Active string `json:"active_form,omitempty" jsonschema:"the step in the words of one who is doing it, for the person" max:"1000"`
	Status string `json:"status" jsonschema:"how far the step is" enum:"pending|in_progress|completed"`
}

// All returns the tools of this package.
func All() []tool.Tool { return []tool.Tool{UpdatePlan()} }

// UpdatePlan returns the tool update_plan. It keeps nothing: the plan goes to
// the host in the result's metadata, under "plan" and "explanation".
func UpdatePlan() tool.Tool {
	return tool.Typed[planArgs]{
		Spec: tool.Spec{
			Name: "update_plan", Title: "Update the plan", Description: strings.TrimSpace(updatePlanWords),
			ArgAliases: map[string][]string{"plan": {"steps", "todos"}},
			Tags:       []string{"code", "plan"}, Effects: tool.Pure, Idempotent: true, Additive: true,
		},
		Handle: updatePlan,
	}.Tool()
}

func updatePlan(_ context.Context, _ *tool.Call, in planArgs) (*tool.Result, error) {
	if err := check(in.Plan); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	current := ""
	for _, s := range in.Plan {
		counts[s.Status]++
		if s.Status == "in_progress" {
			current = cmp.Or(s.Active, s.Step)
		}
	}
	text := fmt.Sprintf("Plan updated: %d of %d steps completed", counts["completed"], len(in.Plan))
	switch {
	case current != "":
		text += "; in progress: " + tool.Clip(current)
	case counts["pending"] > 0:
		text += "; no step is in progress"
	}
	r := tool.Text(text + ".")
	r.Metadata = map[string]any{"plan": in.Plan, "explanation": in.Explanation}
	return r, nil
}

// check reports everything that makes a list of steps no plan.
func check(plan []step) error {
	var bad []string
	first := map[string]int{}
	var running []string
	for i, s := range plan {
		name := strings.Join(strings.Fields(s.Step), " ")
		if name == "" {
			bad = append(bad, fmt.Sprintf("step %d is blank", i+1))
			continue
		}
		if at, twice := first[name]; twice {
			bad = append(bad, fmt.Sprintf("steps %d and %d are the same", at, i+1))
		} else {
			first[name] = i + 1
		}
		if s.Status == "in_progress" {
			running = append(running, fmt.Sprint(i+1))
		}
	}
	if len(running) > 1 {
		bad = append(bad, fmt.Sprintf("steps %s are all in_progress; at most one can be", strings.Join(running, ", ")))
	}
	if bad == nil {
		return nil
	}
	return tool.Invalidf("the plan was not taken:\n- %s\nSend the whole plan again with this put right.", strings.Join(bad, "\n- "))
}
