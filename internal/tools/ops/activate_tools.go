package ops

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed activate_tools.md
var activateToolsWords string

type activateToolsIn struct {
	Tools []string `json:"tools,omitempty" jsonschema:"names of tools to list again; each brings its group" max:"32"`
	Group string   `json:"group,omitempty" jsonschema:"a group to list again, as returned by a call without arguments" max:"200"`
}

type awayOut struct {
	PutAway []registry.AwayGroup `json:"put_away"`
	Note    string               `json:"note,omitempty"`
}

func activateTools() tool.Tool {
	return tool.Typed[activateToolsIn]{
		Spec: tool.Spec{
			Name:        "activate_tools",
			Title:       "List tools again that were put away",
			Description: describe(activateToolsWords),
			Tags:        []string{registry.TagDiscovery, registry.TagExposure},
			Effects:     tool.Pure,
			Idempotent:  true,
			OutputBytes: outputBytes,
		},
		Handle: func(ctx context.Context, _ *tool.Call, in activateToolsIn) (*tool.Result, error) {
			v := registry.ViewFrom(ctx)
			if len(in.Tools) == 0 && in.Group == "" {
				return result(putAway(v))
			}
			activation, err := v.Activate(in.Tools, in.Group)
			if err != nil {
				return nil, err
			}
			return result(activation)
		},
	}.Tool()
}

// maxAway is how many names a call without arguments returns.
const maxAway = 500

func putAway(v *registry.View) awayOut {
	out := awayOut{PutAway: []registry.AwayGroup{}}
	left, total := maxAway, 0
	for _, g := range v.Away() {
		total += len(g.Tools)
		g.Tools = g.Tools[:min(left, len(g.Tools))]
		left -= len(g.Tools)
		if len(g.Tools) > 0 {
			out.PutAway = append(out.PutAway, g)
		}
	}
	switch {
	case total == 0:
		out.Note = "Every tool is listed."
	case total > maxAway:
		out.Note = fmt.Sprintf("%d more are put away; tool_search finds them.", total-maxAway)
	}
	return out
}
