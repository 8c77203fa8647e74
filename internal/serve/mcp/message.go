package mcp

import (
	"context"
	"time"

	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// messageTime is how long a message may take on its way: its call waits.
const messageTime = time.Second

// offerMessages says that a client may ask for messages.
func offerMessages(c *mcp.ServerCapabilities) { c.Logging = &mcp.LoggingCapabilities{} }

// report tells a client that has asked for log messages how a call ended that
// did not succeed: what its model is told stands in the result, what its
// person may want to see goes here. client is nil for one without a session.
func (s *Server) report(ctx context.Context, client *mcp.ServerSession, name string, r *tool.Result) {
	if r.OK || client == nil {
		return
	}
	data := map[string]any{"tool": cut(name), "code": string(r.Code)}
	if r.ID != "" {
		data["result"] = r.ID
	}
	s.message(ctx, client, levelOf(r.Code), data)
}

// levelOf is how grave an end is: what was kept from happening is a warning,
// and what should not happen an error.
func levelOf(code tool.Code) mcp.LoggingLevel {
	switch code {
	case tool.CodeDenied, tool.CodeApprovalDenied, tool.CodeApprovalRequired, tool.CodeSandboxDenied:
		return "warning"
	case tool.CodePanicked:
		return "error"
	default:
		return "info"
	}
}

// message sends a log message. The SDK sends none to a client that has not
// said from which level on it wants them.
func (s *Server) message(ctx context.Context, client *mcp.ServerSession, level mcp.LoggingLevel, data any) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), messageTime)
	defer cancel()
	// A client that cannot take it loses only the message.
	_ = client.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: "handrail", Data: data})
}
