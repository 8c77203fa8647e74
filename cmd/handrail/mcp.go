package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/serve/mcp"
	"github.com/handrail-tools/handrail/tool"
)

func newMCP(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to an MCP client over stdin and stdout",
		Long: "Serve the tools to a client of the Model Context Protocol over stdin and stdout, until the client\n" +
			"closes them. The client sees the same tools under the same rules as every other caller. What needs\n" +
			"a person's approval is refused: run with --mode, or write a rule, for what the client may do.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
			s, _, err := f.open(cmd.Context(), handrail.Options{
				Origin: tool.Origin{Kind: tool.OriginMCP},
				// A client has a loop guard of its own, or polls on purpose.
				Guard:  handrail.GuardAdvise,
				Logger: logger,
			})
			if err != nil {
				return err
			}
			err = t.serve(cmd.Context(), s, logger)
			return failure(errors.Join(err, s.Close()))
		},
	}
}

// serve speaks with the client until it goes away or the program is told to
// stop, neither of which is a failure.
func (t *terminal) serve(ctx context.Context, s *handrail.Session, logger *slog.Logger) error {
	server, err := mcp.New(s, mcp.Options{Version: readVersion().Version, Logger: logger})
	if err != nil {
		return err
	}
	err = server.ServeStdio(ctx, io.NopCloser(t.in), nopWriteCloser{t.out})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// nopWriteCloser leaves closing to the process.
type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }
