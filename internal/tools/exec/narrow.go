package exec

import (
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

// Effects are the most that a command can do behind a fence that holds p.
func Effects(p sandbox.Policy) tool.Effects {
	k := Kit{Policy: p}
	return k.act("", false).Effects
}

// Narrow returns a tool of this package that declares no more than the given
// effects: for a session in which a command can do no more, because its fence
// holds it and its [Kit] has no Free.
func Narrow(t tool.Tool, to tool.Effects) tool.Tool {
	whole, ok := t.(declared)
	if !ok {
		return t // which then is refused as what it declares
	}
	return narrowed{whole, to}
}

// declared is what the tools of this package are.
type declared interface {
	tool.Tool
	tool.Checker
	tool.Assesser
	tool.Preflighter
	tool.Resumer
	tool.Keyer
}

type narrowed struct {
	declared
	to tool.Effects
}

func (n narrowed) Spec() tool.Spec {
	spec := n.declared.Spec()
	spec.Effects &= n.to
	return spec
}
