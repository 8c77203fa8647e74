package exec

import (
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

func (r *run) denial(sandbox.Exit, *tool.Result) []string { return nil }
