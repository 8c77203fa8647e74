package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/serve/mcp"
	"github.com/handrail-tools/handrail/tool"
)

// options are what the flags say of the server. Where clients may choose
// their workspace, the folder that the command was started in is not one
// that the operator has chosen.
func (m *mcpFlags) options(cmd *cobra.Command, f *flags, logger *slog.Logger) (mcp.Options, error) {
	o := mcp.Options{Version: readVersion().Version, Logger: logger}
	if err := oneOf("--approval", m.approval, config.Approvals()); err != nil {
		return o, usage(err)
	}
	f.approval = m.approval
	if len(m.roots) == 0 {
		return o, nil
	}
	if !cmd.Flags().Changed("workspace") {
		f.workspace = ""
	}
	l, err := f.load()
	if err != nil {
		return o, err
	}
	closed := l.Closed
	for _, dir := range []string{l.StateDir, bookDir()} {
		if dir != "" {
			closed = append(closed, dir)
		}
	}
	o.Roots, err = mcp.NewRoots(m.roots, closed, func(ctx context.Context, dir, beneath string) (*handrail.Session, error) {
		own := *f
		own.workspace = dir
		return own.openMCP(ctx, logger, beneath)
	})
	return o, usage(err)
}

// openMCP opens a session for a client. beneath, unless "", is the folder in
// which its workspace must lie.
func (f *flags) openMCP(ctx context.Context, logger *slog.Logger, beneath string) (*handrail.Session, error) {
	s, _, err := f.open(ctx, handrail.Options{
		Origin: tool.Origin{Kind: tool.OriginMCP},
		Files:  handrail.WorkspaceOptions{Beneath: beneath},
		// A client has a loop guard of its own, or polls on purpose.
		Guard:    handrail.GuardAdvise,
		Approver: mcp.Approve,
		Logger:   logger,
	})
	return s, err
}
