// Package conformance is the server that the official conformance suite
// expects to find: its tools, resources and prompts do nothing but give the
// answers that the suite looks for. Behind our HTTP server it shows that what
// we put around the protocol leaves the protocol whole. It serves no tool of
// a session and touches no file.
package conformance

import (
	"context"

	"github.com/handrail-tools/handrail/internal/serve/mcp"
	"github.com/handrail-tools/handrail/internal/serve/mcp/roundtrip"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixtures are one client's.
type fixtures struct {
	server *sdk.Server
	sealer roundtrip.Sealer
}

// Open makes the fixtures for one client.
func Open(context.Context) (mcp.Peer, error) {
	accept := func(context.Context, *sdk.SubscribeRequest) error { return nil }
	drop := func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
	f := &fixtures{server: sdk.NewServer(&sdk.Implementation{Name: "handrail-conformance", Version: "1"}, &sdk.ServerOptions{
		CompletionHandler: complete, SubscribeHandler: accept, UnsubscribeHandler: drop,
	})}
	for _, fixture := range []map[string]toolFixture{contents(), reports(f), questions(), f.rounds()} {
		for name, t := range fixture {
			schema := t.schema
			if schema == "" {
				schema = `{"type":"object"}`
			}
			f.server.AddTool(&sdk.Tool{Name: name, Description: description, InputSchema: raw(schema)}, t.run)
		}
	}
	f.addResources()
	f.addPrompts()
	return f, nil
}

// SDK is the protocol's side of the fixtures.
func (f *fixtures) SDK() *sdk.Server { return f.server }

// Close lets go of nothing: there is nothing but memory.
func (f *fixtures) Close() error { return nil }

func complete(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
}
