package ops

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed tool_search.md
var toolSearchWords string

type toolSearchIn struct {
	Query string   `json:"query,omitempty" jsonschema:"words of a name, a tag or what the tool does; leave out to list the tools by name" max:"2000"`
	Limit int      `json:"limit" jsonschema:"how many tools to return; 1 to 32" default:"8"`
	Full  bool     `json:"full,omitempty" jsonschema:"return whole definitions with their argument schemas"`
	Names []string `json:"names,omitempty" jsonschema:"return the whole definitions of exactly these tools; query and limit are not used then" max:"32"`
}

type toolSearchOut struct {
	Query   string   `json:"query"`
	Matches []match  `json:"matches"`
	Total   int      `json:"total"`
	Unknown []string `json:"unknown_names,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func toolSearch() tool.Tool {
	return tool.Typed[toolSearchIn]{
		Spec: tool.Spec{
			Name:        "tool_search",
			Title:       "Search tools",
			Description: describe(toolSearchWords),
			Tags:        []string{registry.TagDiscovery},
			Effects:     tool.Pure,
			Concurrency: tool.Safe,
			Idempotent:  true,
			OutputBytes: outputBytes,
		},
		Handle: func(ctx context.Context, _ *tool.Call, in toolSearchIn) (*tool.Result, error) {
			if in.Names != nil {
				return result(byName(registry.ViewFrom(ctx), in.Names))
			}
			return result(byQuery(registry.ViewFrom(ctx), in))
		},
	}.Tool()
}

func byName(v *registry.View, names []string) toolSearchOut {
	found, unknown := v.Find(names)
	out := toolSearchOut{Matches: []match{}, Total: len(found)}
	for _, name := range unknown {
		out.Unknown = append(out.Unknown, tool.Clip(name))
	}
	matches, tooMuch := definitions(found)
	out.Matches = append(out.Matches, matches...)
	out.Note = tooMuchNote(tooMuch)
	return out
}

func byQuery(v *registry.View, in toolSearchIn) toolSearchOut {
	found, total := v.Search(in.Query, clampLimit(in.Limit))
	out := toolSearchOut{Query: in.Query, Matches: []match{}, Total: total}
	if in.Full {
		matches, tooMuch := definitions(found)
		out.Matches = append(out.Matches, matches...)
		out.Note = tooMuchNote(tooMuch)
	} else {
		for _, f := range found {
			out.Matches = append(out.Matches, short(f))
		}
	}
	if total == 0 {
		out.Note = "No tool answers to these words. Without a query the tools are listed by name."
	} else if rest := total - len(found); rest > 0 && out.Note == "" {
		out.Note = fmt.Sprintf("%d more match; a limit up to %d or other words bring them.", rest, MaxLimit)
	}
	return out
}

// tooMuchNote says which call brings the definitions that did not fit.
func tooMuchNote(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return fmt.Sprintf("%d definitions did not fit; call again with names: [%s].", len(names), strings.Join(quoted, ", "))
}
