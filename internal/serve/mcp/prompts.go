package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// safetyPrompt is the name of the prompt that tells a model what holds in
// this session.
const safetyPrompt = "handrail_safety"

// options are what the SDK needs to know of the server. Of tools alone a
// client is told when their list changes: files and results change all the
// time, and what a prompt says is made when it is asked for.
func (s *Server) options(o Options) *mcp.ServerOptions {
	out := &mcp.ServerOptions{
		Instructions: o.Instructions, Logger: o.Logger, SetCacheable: cacheable,
		Capabilities: &mcp.ServerCapabilities{
			Tools:   &mcp.ToolCapabilities{ListChanged: true},
			Prompts: &mcp.PromptCapabilities{},
		},
	}
	// Some clients give their models further tools for a server that has
	// resources, so one that has none does not say that it could.
	if s.hasResources() || o.Roots != nil {
		out.Capabilities.Resources = &mcp.ResourceCapabilities{}
		out.CompletionHandler = s.complete
	}
	offerMessages(out.Capabilities)
	o.Roots.tell(out)
	return out
}

// addPrompts registers the prompts.
func (s *Server) addPrompts() {
	s.sdk.AddPrompt(&mcp.Prompt{
		Name: safetyPrompt, Title: "What holds in this workspace",
		Description: "What the tools of this session may do, what needs a person's word, what is closed, and how to go about it.",
	}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: s.serving().Guidance()}}}}, nil
	})
}
