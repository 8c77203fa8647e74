package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/serve/mcp"
	"github.com/handrail-tools/handrail/internal/serve/mcp/conformance"
)

// tokenVariable names the environment variable that may hold the token of
// the HTTP server.
const tokenVariable = "HANDRAIL_MCP_TOKEN"

// mcpFlags say how the server is reached.
type mcpFlags struct {
	http, tokenFile string
	hosts, roots    []string
	approval        string
	conformance     bool
}

func newMCP(t *terminal, f *flags) *cobra.Command {
	m := &mcpFlags{}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to MCP clients",
		Long: "Serve the tools to a client of the Model Context Protocol over stdin and stdout, until the client\n" +
			"closes them, or with --http to many clients at http://ADDR" + mcp.Path + ". A client sees the same tools\n" +
			"under the same rules as every other caller. What needs a person's approval is asked of the person\n" +
			"at the client, where the client can ask (elicitation), and is refused otherwise: run with --mode, or\n" +
			"write a rule, for what the client may do; --approval never asks nobody. With --queue a question also\n" +
			"waits for `handrail approvals`, at another terminal of this machine.\n\n" +
			"With --allow-root the first of a client's roots that lies in one of those folders is its workspace.\n" +
			"A client without one has the folder of -w if that is given, or else no files. A client of 2026-07-28\n" +
			"is not asked for roots, which may not change what a server lists there: start it with -w.\n\n" +
			"Over HTTP each client that opens a session has its own view and log; an address that other machines\n" +
			"reach needs a token, from --token-file or " + tokenVariable + ".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
			o, err := m.options(cmd, f, logger)
			if err != nil {
				return err
			}
			if m.http == "" {
				if m.tokenFile != "" || len(m.hosts) > 0 || m.conformance {
					return usage(errors.New("--token-file and --allow-host need --http"))
				}
				return t.serveStdio(cmd.Context(), f, o)
			}
			return t.serveHTTP(cmd.Context(), f, m, o)
		},
	}
	cmd.Flags().StringVar(&m.http, "http", "", "address to serve HTTP at, as 127.0.0.1:8080")
	cmd.Flags().StringVar(&m.tokenFile, "token-file", "", "file with the token that HTTP clients must send")
	cmd.Flags().StringSliceVar(&m.hosts, "allow-host", nil, "name under which HTTP clients reach this machine")
	cmd.Flags().StringArrayVar(&m.roots, "allow-root", nil, "folder in which a client may choose its workspace by its roots")
	cmd.Flags().StringVar(&m.approval, "approval", "", "when a person is asked: "+strings.Join(config.Approvals(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("approval", cobra.FixedCompletions(config.Approvals(), cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagDirname("allow-root")
	cmd.Flags().BoolVar(&m.conformance, "conformance", false, "serve the fixtures of the official conformance suite instead of the tools")
	_ = cmd.Flags().MarkHidden("conformance") // it exists
	_ = cmd.MarkFlagFilename("token-file")
	f.registerAsking(cmd)
	cmd.AddCommand(newMCPInstall(t, f))
	return cmd
}

// serveStdio speaks with the client until it goes away or the program is
// told to stop, neither of which is a failure.
func (t *terminal) serveStdio(ctx context.Context, f *flags, o mcp.Options) error {
	// Unless somebody asks for this signal, the first write to a client that
	// has gone ends the program on the spot, with everything open.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	s, err := f.openMCP(ctx, o.Logger, "")
	if err != nil {
		return err
	}
	server, err := mcp.New(s, o)
	if err == nil {
		in, restore := pollable(t.in)
		defer restore()
		err = server.ServeStdio(ctx, io.NopCloser(in), nopWriteCloser{t.out})
		if ctx.Err() != nil {
			err = nil
		}
	}
	return failure(errors.Join(err, s.Close()))
}

// serveHTTP serves clients until the program is told to stop.
func (t *terminal) serveHTTP(ctx context.Context, f *flags, m *mcpFlags, own mcp.Options) error {
	token, err := m.token()
	if err != nil {
		return usage(err)
	}
	o := mcp.HTTPOptions{Token: token, Hosts: m.hosts, Logger: own.Logger}
	if m.conformance {
		o.Open = conformance.Open
	} else {
		o.Open = mcp.SessionPeers(func(ctx context.Context) (*handrail.Session, error) { return f.openMCP(ctx, own.Logger, "") }, own)
	}
	server, err := mcp.NewHTTP(ctx, o)
	if err != nil {
		return err
	}
	listener, err := server.Listen(ctx, m.http)
	if err != nil {
		return errors.Join(usage(err), server.Close())
	}
	fmt.Fprintf(t.err, "serving MCP at http://%s%s\n", listener.Addr(), mcp.Path)
	return failure(errors.Join(server.Serve(ctx, listener), server.Close()))
}

// token is what clients must send, or "".
func (m *mcpFlags) token() (string, error) {
	text, from := os.Getenv(tokenVariable), tokenVariable
	if m.tokenFile != "" {
		data, err := os.ReadFile(m.tokenFile)
		if err != nil {
			return "", fmt.Errorf("reading the token: %w", err)
		}
		text, from = string(data), m.tokenFile
		if strings.TrimSpace(text) == "" {
			return "", fmt.Errorf("%s holds no token", from)
		}
	}
	token := strings.TrimSpace(text)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the token in %s must be one line of visible ASCII characters", from)
	}
	return token, nil
}

// nopWriteCloser leaves closing to the process.
type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }
