package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a client that answers no question by itself.
func connect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	peer, err := Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ct, st := sdk.NewInMemoryTransports()
	server, err := peer.SDK().Connect(t.Context(), st, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return nil, errors.New("nobody is here")
		},
	})
	session, err := client.Connect(t.Context(), ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = server.Wait()
		if err := peer.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

func answered(state, key string, content map[string]any) *sdk.CallToolParams {
	return &sdk.CallToolParams{RequestState: state, InputResponses: sdk.InputResponseMap{key: &sdk.ElicitResult{Action: "accept", Content: content}}}
}

func TestStateOfAQuestionIsSealed(t *testing.T) {
	client := connect(t)
	call := func(name string, p *sdk.CallToolParams) (*sdk.CallToolResult, error) {
		p.Name = name
		return client.CallTool(t.Context(), p)
	}
	const tool, other = "test_input_required_result_request_state", "test_input_required_result_tampered_state"
	asked, err := call(tool, &sdk.CallToolParams{})
	if err != nil || !asked.NeedsInput() {
		t.Fatalf("nothing is asked: %+v, %v", asked, err)
	}
	yes := map[string]any{"ok": true}
	refused := func(what string, err error) {
		t.Helper()
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = call(tool, answered(asked.RequestState+"-TAMPERED", "confirm", yes))
	refused("a changed state", err)
	_, err = call(other, answered(asked.RequestState, "confirm", yes))
	refused("the state of another tool", err)
	withArgs := answered(asked.RequestState, "confirm", yes)
	withArgs.Arguments = map[string]any{"x": 1}
	_, err = call(tool, withArgs)
	refused("the state of other arguments", err)
	done, err := call(tool, answered(asked.RequestState, "confirm", yes))
	if err != nil || done.NeedsInput() || !strings.HasPrefix(done.Content[0].(*sdk.TextContent).Text, "state-ok") {
		t.Errorf("confirmed: %+v, %v", done, err)
	}
	_, err = call(tool, answered(asked.RequestState, "confirm", yes))
	refused("a state for the second time", err)
}

func TestAnswersOfTwoRounds(t *testing.T) {
	client := connect(t)
	p := &sdk.CallToolParams{}
	for _, round := range []struct{ key, field, value string }{{"step1", "name", "Ada"}, {"step2", "color", "blue"}, {}} {
		p.Name = "test_input_required_result_multi_round"
		r, err := client.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if round.key == "" {
			if got := r.Content[0].(*sdk.TextContent).Text; got != "Ada likes blue" {
				t.Errorf("result %q", got)
			}
			return
		}
		if _, asked := r.InputRequests[round.key]; !asked || !r.NeedsInput() {
			t.Fatalf("%s is not asked: %+v", round.key, r)
		}
		p = answered(r.RequestState, round.key, map[string]any{round.field: round.value})
	}
}
