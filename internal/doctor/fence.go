package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

// fences tries every fence that there is for this system. The first that works
// is the one that commands run in, unless the settings name another.
func fences(ctx context.Context) []Fact {
	found, err := sandbox.Probe(ctx)
	if err != nil {
		return []Fact{{Group: "fence", Name: "drivers", State: Unknown, Value: reason(err)}}
	}
	var facts []Fact
	chosen := false
	for _, d := range found {
		f := Fact{Group: "fence", Name: "driver " + string(d.Driver), State: Missing, Value: d.Reason}
		if d.OK {
			f.State, f.Value = OK, "works; built in "+d.Opening.Round(100*time.Microsecond).String()
			f.Matters = "leaves open: " + strings.Join(d.Open, " ")
			if len(d.Open) == 0 {
				f.Matters = ""
			}
			if !chosen {
				chosen = true
				f.Value += "; commands run in it"
			}
		}
		facts = append(facts, f)
	}
	if !chosen {
		facts[0].Matters = "no fence can be had, so commands are refused until the operator says otherwise"
	}
	return facts
}
