package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestToolsPage keeps docs/tools.md equal to what the tools say of
// themselves. With UPDATE_SCRIPTS set it writes the page.
func TestToolsPage(t *testing.T) {
	const path = "../../docs/tools.md"
	s, err := handrail.Open(t.Context(), handrail.Options{
		Workspace: t.TempDir(), StateDir: t.TempDir(), Permission: handrail.Permission{Mode: handrail.FullAccess},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	want := toolsPage(s.Specs())
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/tools.md is stale; write it with: UPDATE_SCRIPTS=1 go test ./cmd/handrail -run TestToolsPage")
	}
}

func toolsPage(specs []handrail.Spec) string {
	var b strings.Builder
	b.WriteString("# The tools\n\nWritten from what the tools say of themselves; a test fails when it is stale.\n")
	total := 0
	for i := range specs {
		s := &specs[i]
		total += cost(s)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nEffects: %s. Runs %s. About %d tokens in a request.", s.Name,
			strings.TrimSpace(s.Description), s.Effects.Declared(), runsHow(s), cost(s))
		if len(s.Aliases) > 0 {
			fmt.Fprintf(&b, " Also called %s.", strings.Join(s.Aliases, ", "))
		}
		b.WriteString("\n\n")
		writeArguments(&b, s.Input)
	}
	fmt.Fprintf(&b, "\nAll together: about %d tokens.\n", total)
	return b.String()
}

func runsHow(s *handrail.Spec) string {
	switch s.Concurrency {
	case tool.Safe:
		return "beside other calls that only look"
	case tool.Keyed:
		return "beside calls for another key"
	default:
		return "alone"
	}
}

type argument struct {
	Type        any              `json:"type"`
	Description string           `json:"description"`
	Default     json.RawMessage  `json:"default"`
	Enum        []any            `json:"enum"`
	Minimum     *json.RawMessage `json:"minimum"`
	Maximum     *json.RawMessage `json:"maximum"`
}

func writeArguments(b *strings.Builder, input json.RawMessage) {
	var schema struct {
		Properties map[string]argument `json:"properties"`
		Required   []string            `json:"required"`
	}
	if json.Unmarshal(input, &schema) != nil || len(schema.Properties) == 0 {
		b.WriteString("No arguments.\n")
		return
	}
	b.WriteString("| argument | type | meaning |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		a := schema.Properties[name]
		if slices.Contains(schema.Required, name) {
			name += " (required)"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, typeText(a), strings.ReplaceAll(meaning(a), "|", `\|`))
	}
}

func typeText(a argument) string {
	text := fmt.Sprint(a.Type)
	if a.Type == nil {
		text = "any"
	}
	for _, bound := range []struct {
		word  string
		value *json.RawMessage
	}{{"from", a.Minimum}, {"to", a.Maximum}} {
		if bound.value != nil {
			text += fmt.Sprintf(" %s %s", bound.word, *bound.value)
		}
	}
	return text
}

func meaning(a argument) string {
	text := a.Description
	if len(a.Enum) > 0 {
		text += fmt.Sprintf("; one of %v", a.Enum)
	}
	if a.Default != nil {
		text += fmt.Sprintf("; %s where absent", a.Default)
	}
	return strings.TrimPrefix(text, "; ")
}
