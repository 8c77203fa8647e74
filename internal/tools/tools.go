// Package tools is the parts list: every tool that Handrail brings.
package tools

import (
	"github.com/handrail-tools/handrail/tool"
)

// Always lists the tools that every session can serve.
func Always() []tool.Tool { return nil }

// Files lists the tools that need a workspace.
func Files() []tool.Tool { return nil }
