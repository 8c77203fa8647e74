package exec

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

//go:embed sleep.md
var sleepWords string

// maxSleep is how long one call may wait.
const maxSleep = 600 * time.Second

type sleepArgs struct {
	Seconds float64 `json:"seconds" jsonschema:"how long" min:"0" max:"600"`
	ID      int     `json:"session_id,omitempty" jsonschema:"wait for the end of this command instead, at most so long"`
}

// Sleep returns the tool sleep.
func Sleep() tool.Tool {
	return tool.Typed[sleepArgs]{
		Spec: tool.Spec{
			Name: "sleep", Title: "Wait", Description: words(sleepWords), Aliases: []string{"wait"},
			ArgAliases: map[string][]string{"seconds": {"secs", "duration", "duration_secs"}},
			Tags:       []string{"runtime"}, Effects: tool.Read, Concurrency: tool.Safe, Idempotent: true,
			Timeout: maxSleep + margin,
		},
		Assess: func(_ context.Context, in sleepArgs) (tool.Act, error) {
			return tool.Act{Effects: tool.Read, Summary: fmt.Sprintf("wait for %g seconds", in.Seconds)}, nil
		},
		Handle: runSleep,
	}.Tool()
}

func runSleep(ctx context.Context, _ *tool.Call, in sleepArgs) (*tool.Result, error) {
	var ended <-chan struct{}
	if in.ID != 0 {
		e, done, err := From(ctx).Commands.Talk(ctx, in.ID)
		if err != nil {
			return nil, tool.Failf("%w", err)
		}
		done()
		ended = e.Ended()
	}
	began := time.Now()
	timer := time.NewTimer(min(time.Duration(in.Seconds*float64(time.Second)), maxSleep))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-ended:
		return tool.Text(fmt.Sprintf(`The command %d has ended after %s of waiting; write_stdin {"session_id": %d} tells how.`,
			in.ID, time.Since(began).Round(10*time.Millisecond), in.ID)), nil
	case <-timer.C:
	}
	text := fmt.Sprintf("Waited for %s.", time.Since(began).Round(10*time.Millisecond))
	if in.ID != 0 {
		text += fmt.Sprintf(" The command %d still runs.", in.ID)
	}
	return tool.Text(text), nil
}
