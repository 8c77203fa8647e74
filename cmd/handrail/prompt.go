package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail/internal/config"
)

func newPrompt(t *terminal, f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Print the rules as a text for a model",
		Long: "Print, as a section for a system prompt, what holds for an agent that is served by `handrail mcp` with\n" +
			"the same flags: what happens without a question, what a person is asked about, what is refused and\n" +
			"closed, the limits, and the manners that go with tools. The text comes from what decides about calls, so\n" +
			"it changes when the settings do.",
		Example: "  handrail prompt --mode read-only >prompt.md",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("--approval", f.approval, config.Approvals()); err != nil {
				return usage(err)
			}
			s, err := f.openMCP(cmd.Context(), slog.New(slog.DiscardHandler), "")
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			if f.json {
				return t.printJSON(map[string]string{"guidance": s.Guidance()})
			}
			t.printText(s.Guidance())
			return nil
		},
	}
	cmd.Flags().StringVar(&f.approval, "approval", "", "when a person is asked, as the server is told")
	_ = cmd.RegisterFlagCompletionFunc("approval", cobra.FixedCompletions(config.Approvals(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
