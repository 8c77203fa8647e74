package file

import (
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// steps are what the workspace has to do: the contents of files that are
// there, at the paths where they are; removals; moves, each when its new path
// is free; new files.
func (p *patching) steps() ([]workspace.Step, error) {
	var steps, fresh []workspace.Step
	for _, f := range p.files {
		s := workspace.Step{Op: workspace.OpWrite, Name: f.origin, Data: f.data, Expect: &f.old.Version}
		switch {
		case !f.written || f.at == "":
		case f.origin == "":
			fresh = append(fresh, workspace.Step{Op: workspace.OpWrite, Name: f.at, Data: f.data, Mode: f.mode, CreateOnly: true})
		default:
			steps = append(steps, s)
		}
	}
	if len(steps)+len(p.shifts)+len(fresh) > workspace.MaxSteps {
		return nil, tool.Invalidf("the patch makes %d changes to files; at most %d are made at once. Nothing was changed", len(steps)+len(p.shifts)+len(fresh), workspace.MaxSteps)
	}
	shifts, err := p.order()
	if err != nil {
		return nil, err
	}
	for _, f := range shifts {
		s := workspace.Step{Op: workspace.OpMove, Name: f.origin, To: f.at, Expect: &f.old.Version}
		if f.at == "" {
			s.Op = workspace.OpRemove
		}
		if f.link {
			s.Expect = nil
		}
		steps = append(steps, s)
	}
	return append(steps, fresh...), nil
}

// order puts removals and moves in an order in which every path is free when
// something is moved to it.
func (p *patching) order() ([]*patched, error) {
	taken := make(map[string]bool)
	var out, wait []*patched
	for _, f := range p.shifts {
		switch f.at {
		case "":
			out = append(out, f)
		case f.origin: // it came back
		default:
			taken[f.origin] = true
			wait = append(wait, f)
		}
	}
	for len(wait) > 0 {
		var still []*patched
		for _, f := range wait {
			if taken[f.at] {
				still = append(still, f)
				continue
			}
			delete(taken, f.origin)
			out = append(out, f)
		}
		if len(still) == len(wait) {
			return nil, tool.Failf("the patch moves files in a circle (%s to %s and so on); give one of them another name first, in a patch of its own. Nothing was changed", tool.Clip(wait[0].origin), tool.Clip(wait[0].at))
		}
		wait = still
	}
	return out, nil
}
