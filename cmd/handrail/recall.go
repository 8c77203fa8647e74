package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
)

func newRecall(t *terminal, f *flags) *cobra.Command {
	var save string
	cmd := &cobra.Command{
		Use:   "recall ID [KEY=VALUE ...]",
		Short: "Bring back a result, or a part of it, without running anything again",
		Long: "Bring back the result of that id, of any earlier call in this workspace. The words behind the id\n" +
			"are arguments of the tool recall: start_line, limit, tail, pattern; `handrail tools recall` says\n" +
			"what each does.",
		Example: "  handrail recall r_k3m9x2pq7abc tail=20\n  handrail recall r_k3m9x2pq7abc pattern=error context=2",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which result? `handrail log` lists their ids")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			words := append([]string{"id=" + args[0]}, args[1:]...)
			return t.callTool(cmd.Context(), f, "recall", save, func(specs []handrail.Spec) (json.RawMessage, error) {
				return t.arguments(cmd.Context(), specs, "recall", words)
			})
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "folder to write images of the result to")
	_ = cmd.MarkFlagDirname("save")
	return cmd
}
