package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/tokens"
	"github.com/handrail-tools/handrail/tool"
)

func newTools(t *terminal, f *flags) *cobra.Command {
	var count bool
	var wire string
	cmd := &cobra.Command{
		Use:   "tools [TOOL ...]",
		Short: "Show the tools that a model would see",
		Long: "Show the tools that a model would see with these settings: all of them in a table, or the ones\n" +
			"that are named in full. --tokens adds what each costs in every request, by the estimate that\n" +
			"docs/measurements.md explains. --wire prints the very JSON that a provider is sent.",
		ValidArgsFunction: f.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := f.open(cmd.Context(), handrail.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			specs, err := pick(s.Specs(), args)
			switch {
			case err != nil:
				return usage(err)
			case wire != "":
				return t.printWire(handrail.Provider(wire), specs)
			case f.json:
				return t.printJSON(listSpecs(specs, count))
			case len(args) > 0:
				t.describe(specs)
			default:
				t.listTools(specs, count)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&count, "tokens", false, "estimate what each tool costs")
	cmd.Flags().StringVar(&wire, "wire", "", "print the JSON for openai, openai-responses, anthropic or gemini")
	cmd.MarkFlagsMutuallyExclusive("tokens", "wire")
	return cmd
}

// pick returns the tools of those names, in that order, or all of them.
func pick(specs []handrail.Spec, names []string) ([]handrail.Spec, error) {
	if len(names) == 0 {
		return specs, nil
	}
	var known []string
	for i := range specs {
		known = append(known, specs[i].Name)
	}
	var picked []handrail.Spec
	for _, name := range names {
		spec := specOf(specs, name)
		if spec == nil {
			return nil, fmt.Errorf("no tool that a model would see is called %q%s", tool.Clip(name), orWords(name, known))
		}
		picked = append(picked, *spec)
	}
	return picked, nil
}

func (t *terminal) printWire(p handrail.Provider, specs []handrail.Spec) error {
	raw, err := handrail.ToolsJSON(p, specs)
	if err != nil {
		return usage(err)
	}
	fmt.Fprintf(t.out, "%s\n", raw)
	return nil
}

// specJSON is one tool as `tools --json` prints it.
type specJSON struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	Effects     tool.Effects    `json:"effects"`
	Concurrency string          `json:"concurrency"`
	Aliases     []string        `json:"aliases,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Tokens      int             `json:"tokens,omitempty"`
}

// toolsJSON is what `tools --json` prints. The total is there with --tokens
// only.
type toolsJSON struct {
	Tools       []specJSON `json:"tools"`
	TotalTokens int        `json:"total_tokens,omitempty"`
}

func listSpecs(specs []handrail.Spec, count bool) toolsJSON {
	list := toolsJSON{Tools: make([]specJSON, 0, len(specs))}
	for i := range specs {
		s := &specs[i]
		one := specJSON{
			Name: s.Name, Title: s.Title, Description: s.Description, InputSchema: s.Input, Effects: s.Effects.Declared(),
			Concurrency: s.Concurrency.String(), Aliases: s.Aliases, Tags: s.Tags,
		}
		if count {
			one.Tokens = cost(s)
			list.TotalTokens += one.Tokens
		}
		list.Tools = append(list.Tools, one)
	}
	return list
}

// cost is what a tool takes in every request: its name, words and schema, as
// they are sent.
func cost(s *handrail.Spec) int {
	raw, err := handrail.ToolsJSON(handrail.Anthropic, []handrail.Spec{*s})
	if err != nil {
		// A schema that is no JSON is refused when a tool is registered.
		return 0
	}
	return tokens.Estimate(string(raw))
}

func (t *terminal) listTools(specs []handrail.Spec, count bool) {
	rows := [][]string{{"TOOL", "EFFECTS", "DESCRIPTION"}}
	if count {
		rows = [][]string{{"TOOL", "TOKENS", "EFFECTS", "DESCRIPTION"}}
	}
	total := 0
	for i := range specs {
		s := &specs[i]
		row := []string{s.Name, s.Effects.Declared().String(), firstSentence(s.Description)}
		if count {
			c := cost(s)
			total += c
			row = []string{s.Name, strconv.Itoa(c), s.Effects.Declared().String(), firstSentence(s.Description)}
		}
		rows = append(rows, row)
	}
	if count {
		rows = append(rows, []string{"total", strconv.Itoa(total), "", ""})
	}
	t.table(rows, func(row, column int, cell string) string {
		if row == 0 || column == 0 {
			return t.bold(cell)
		}
		return cell
	})
}

// firstSentence is what a table has room for.
func firstSentence(text string) string {
	text = visible(strings.Join(strings.Fields(text), " "))
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return tool.ClipText(text, 90)
}

// describe prints tools in full, as a model reads them.
func (t *terminal) describe(specs []handrail.Spec) {
	for i := range specs {
		s := &specs[i]
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		fmt.Fprintf(t.out, "%s  effects %s, %s\n\n%s\n\n", t.bold(s.Name), s.Effects.Declared(), s.Concurrency, visible(strings.TrimSpace(s.Description)))
		fmt.Fprintln(t.out, visible(indented(s.Input)))
	}
}

func indented(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}
