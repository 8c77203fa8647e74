package ops

import (
	"context"
	_ "embed"
	"strings"

	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed tool_suggest.md
var toolSuggestWords string

type toolSuggestIn struct {
	Task  string `json:"task" jsonschema:"what is to be done, in a sentence" min:"1" max:"2000"`
	Limit int    `json:"limit" jsonschema:"how many tools to return; 1 to 32" default:"8"`
}

type toolSuggestOut struct {
	Task        string  `json:"task"`
	Suggestions []match `json:"suggestions"`
	Note        string  `json:"note,omitempty"`
}

func toolSuggest() tool.Tool {
	return tool.Typed[toolSuggestIn]{
		Spec: tool.Spec{
			Name:        "tool_suggest",
			Title:       "Suggest tools for a task",
			Description: describe(toolSuggestWords),
			ArgAliases:  map[string][]string{"task": {"query"}},
			Tags:        []string{registry.TagDiscovery},
			Effects:     tool.Pure,
			Concurrency: tool.Safe,
			Idempotent:  true,
			OutputBytes: outputBytes,
		},
		Handle: func(ctx context.Context, _ *tool.Call, in toolSuggestIn) (*tool.Result, error) {
			return result(suggestions(registry.ViewFrom(ctx), in))
		},
	}.Tool()
}

func suggestions(v *registry.View, in toolSuggestIn) toolSuggestOut {
	out := toolSuggestOut{Task: in.Task, Suggestions: []match{}}
	spoken := withoutStopWords(in.Task)
	if spoken == "" {
		out.Note = "The task has no word that says what is to be done. tool_search without a query lists the tools."
		return out
	}
	found, _ := v.Search(spoken, clampLimit(in.Limit))
	for _, f := range found {
		m := short(f)
		m.Because = f.Words
		out.Suggestions = append(out.Suggestions, m)
	}
	if len(found) == 0 {
		out.Note = "No tool answers to the words of this task. tool_search without a query lists the tools."
	}
	return out
}

// stopWords say nothing about what a tool does.
var stopWords = map[string]bool{
	"a": true, "all": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "by": true,
	"can": true, "do": true, "for": true, "from": true, "have": true, "how": true, "i": true, "in": true, "into": true,
	"is": true, "it": true, "its": true, "me": true, "my": true, "need": true, "of": true, "on": true, "or": true,
	"should": true, "that": true, "the": true, "their": true, "then": true, "this": true, "to": true, "tool": true,
	"tools": true, "use": true, "using": true, "want": true, "we": true, "what": true, "which": true, "with": true,
	"would": true, "you": true,
}

func withoutStopWords(task string) string {
	var kept []string
	for word := range strings.FieldsSeq(task) {
		if !stopWords[strings.Trim(strings.ToLower(word), ".,;:!?\"'()")] {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}
