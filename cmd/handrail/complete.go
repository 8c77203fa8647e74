package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
)

// completeTools offers the names of the tools that a model would see.
func (f *flags) completeTools(cmd *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return f.complete(cmd, func(specs []handrail.Spec) []cobra.Completion {
		var names []cobra.Completion
		for i := range specs {
			if strings.HasPrefix(specs[i].Name, start) {
				names = append(names, cobra.CompletionWithDesc(specs[i].Name, firstSentence(specs[i].Description)))
			}
		}
		return names
	})
}

// completeCall offers a tool, and behind it the keys of its schema.
func (f *flags) completeCall(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return f.completeTools(cmd, args, start)
	}
	if strings.Contains(start, "=") {
		// A value is most often a path; the shell knows those.
		return nil, cobra.ShellCompDirectiveDefault
	}
	keys, directive := f.complete(cmd, func(specs []handrail.Spec) []cobra.Completion {
		if spec := specOf(specs, args[0]); spec != nil {
			return keysOf(spec, start)
		}
		return nil
	})
	return keys, directive | cobra.ShellCompDirectiveNoSpace
}

func (f *flags) complete(cmd *cobra.Command, of func([]handrail.Spec) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, _, err := f.open(cmd.Context(), handrail.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer func() { _ = s.Close() }()
	return of(s.Specs()), cobra.ShellCompDirectiveNoFileComp
}

func keysOf(spec *handrail.Spec, start string) []cobra.Completion {
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if json.Unmarshal(spec.Input, &schema) != nil {
		return nil
	}
	var keys []cobra.Completion
	for _, key := range slices.Sorted(maps.Keys(schema.Properties)) {
		if strings.HasPrefix(key, start) {
			keys = append(keys, cobra.CompletionWithDesc(key+"=", firstSentence(schema.Properties[key].Description)))
		}
	}
	return keys
}
