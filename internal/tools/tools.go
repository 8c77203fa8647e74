// Package tools is the parts list: every tool that Handrail brings.
package tools

import (
	"slices"

	"github.com/handrail-tools/handrail/internal/tools/changes"
	"github.com/handrail-tools/handrail/internal/tools/exec"
	"github.com/handrail-tools/handrail/internal/tools/file"
	"github.com/handrail-tools/handrail/internal/tools/memory"
	"github.com/handrail-tools/handrail/internal/tools/ops"
	"github.com/handrail-tools/handrail/internal/tools/plan"
	"github.com/handrail-tools/handrail/tool"
)

// Always lists the tools that every session can serve.
func Always() []tool.Tool { return slices.Concat(ops.All(), plan.All(), memory.All()) }

// Files lists the tools that need a workspace.
func Files() []tool.Tool { return file.All() }

// History lists the tools that need a workspace with a history.
func History() []tool.Tool { return changes.All() }

// Commands lists the tools that run commands; they need a workspace.
func Commands() []tool.Tool { return exec.All() }
