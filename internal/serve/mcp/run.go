package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// run opens the transport and waits until its client goes away or ctx ends.
// The SDK's own Run logs an error when ctx ends, and to be told to stop is
// how most clients end a server: what it prints then stands in their logs.
func (s *Server) run(ctx context.Context, t mcp.Transport) error {
	session, err := s.sdk.Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()
	err = session.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
