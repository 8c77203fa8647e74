// Package ops has the tools by which a model finds out what it can use:
// tool_search, tool_suggest and activate_tools. They know the session's view
// of the registry and nothing else, so they can show only what can be called.
package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// Limits of what one call returns, as octos has them.
const (
	// DefaultLimit is how many tools are returned unless the call says more.
	DefaultLimit = 8
	// MaxLimit is the most that a call can ask for; more is taken as this.
	MaxLimit = 32
)

const (
	// shortDescription is how much of a description a match shows, in bytes.
	shortDescription = 300
	// textBudget is how many bytes of definitions one call returns. One
	// definition is returned whole even if it alone is larger.
	textBudget = 40_000
	// outputBytes has room for the largest definition that the registry
	// takes, so that JSON is never cut in the middle.
	outputBytes = textBudget + registry.MaxDescription + registry.MaxSchema
)

// All returns the tools of this package.
func All() []tool.Tool { return []tool.Tool{toolSearch(), toolSuggest(), activateTools()} }

// match is a tool as search and suggest return it.
type match struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Tags        []string        `json:"tags,omitempty"`
	Because     []string        `json:"because,omitempty"`
	PutAway     bool            `json:"put_away,omitempty"`
	Input       json.RawMessage `json:"input_schema,omitempty"`
	// DefinitionBytes stands in for a definition that did not fit.
	DefinitionBytes int `json:"definition_bytes,omitempty"`
}

func short(m registry.Match) match {
	return match{
		Name:        m.Name,
		Description: tool.ClipText(firstParagraph(m.Description), shortDescription),
		Tags:        m.Entry.Spec.Tags,
		PutAway:     m.Away,
	}
}

// firstParagraph returns the first paragraph of a text as one line.
func firstParagraph(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// definitions returns matches with their whole definitions while those fit
// into the budget, and the names of those that did not fit.
func definitions(found []registry.Match) (matches []match, tooMuch []string) {
	left := textBudget
	for i, f := range found {
		m := short(f)
		size := len(f.Description) + len(f.Input)
		if size <= left || i == 0 {
			m.Description, m.Input = f.Description, f.Input
		} else {
			m.DefinitionBytes = size
			tooMuch = append(tooMuch, f.Name)
		}
		left -= size
		matches = append(matches, m)
	}
	return matches, tooMuch
}

// result answers a call with one JSON value.
func result(v any) (*tool.Result, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	return tool.Text(strings.TrimRight(b.String(), "\n")), nil
}

func clampLimit(n int) int { return min(max(n, 1), MaxLimit) }

// describe fills the limits into the words for the model.
func describe(words string) string {
	return strings.TrimSpace(strings.NewReplacer(
		"{default}", fmt.Sprint(DefaultLimit),
		"{max}", fmt.Sprint(MaxLimit),
	).Replace(words))
}
