package mcp

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client that asks for messages hears of what did not succeed, from the
// level on that it named, and any other client hears nothing.
func TestClientHearsWhatWasRefused(t *testing.T) {
	open := func(ctx context.Context) (*handrail.Session, error) {
		fails := tool.Func("fails", "Fails.", tool.Pure, func(context.Context, nothing) (string, error) { return "", tool.Failf("no luck") })
		return handrail.Open(ctx, handrail.Options{NoBuiltins: true, Tools: []tool.Tool{ok("apple", tool.Pure), ok("pear", tool.Write), fails}})
	}
	for name, transport := range map[string]func(*testing.T, func(context.Context) (*handrail.Session, error)) mcp.Transport{
		"stdio": overStdio, "HTTP": overHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			heard := make(chan *mcp.LoggingMessageParams, 16)
			c := client(t, transport(t, open), "2025-11-25", &mcp.ClientOptions{
				LoggingMessageHandler: func(_ context.Context, m *mcp.LoggingMessageRequest) { heard <- m.Params },
			})
			call := func(tool string) {
				t.Helper()
				if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool}); err != nil {
					t.Fatal(err)
				}
			}
			call("pear") // before it has asked
			if err := c.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
				t.Fatal(err)
			}
			call("apple")
			call("fails") // less than it wants
			call("pear")
			select {
			case m := <-heard:
				data, _ := m.Data.(map[string]any)
				if got := []any{m.Level, m.Logger, data["tool"], data["code"]}; !cmp.Equal(got, []any{mcp.LoggingLevel("warning"), "handrail", "pear", "approval_required"}) {
					t.Errorf("heard %v", got)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("nothing was heard of a call that was refused")
			}
			if len(heard) > 0 {
				t.Errorf("heard also %+v", <-heard)
			}
		})
	}
}
