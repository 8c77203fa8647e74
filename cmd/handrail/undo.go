package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
)

func newUndo(t *terminal, f *flags) *cobra.Command {
	var args struct {
		ID     string   `json:"id,omitempty"`
		Paths  []string `json:"paths,omitempty"`
		Since  bool     `json:"since,omitempty"`
		DryRun bool     `json:"dry_run,omitempty"`
	}
	cmd := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Take back what a call changed in files",
		Long: "Take back the change of that id, or the newest one in this workspace that is not undone yet, and\n" +
			"print what that changed. `handrail history` lists the ids. Where a file was changed since, only the\n" +
			"change itself is taken out of it; where that is not possible nothing is done. An undo can be undone.",
		Example: "  handrail undo --dry-run\n  handrail undo c_k3m9x2pq7abc --path main.go",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 1 {
				args.ID = words[0]
			}
			return t.callTool(cmd.Context(), f, "undo", "", func([]handrail.Spec) (json.RawMessage, error) { return json.Marshal(args) })
		},
	}
	cmd.Flags().BoolVar(&args.DryRun, "dry-run", false, "change nothing, only print what would be changed")
	cmd.Flags().BoolVar(&args.Since, "since", false, "take back everything that came after it, too")
	cmd.Flags().StringArrayVar(&args.Paths, "path", nil, "take it back only in this file or folder; may be repeated")
	return cmd
}
