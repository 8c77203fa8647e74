package conformance

import (
	"context"
	"strings"

	"github.com/handrail-tools/handrail/internal/serve/mcp/roundtrip"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is one that a client answers with its next attempt.
func question(text, properties, required string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: text, RequestedSchema: form(properties, required)}
}

func askName() *sdk.ElicitParams {
	return question("What is your name?", `{"name":{"type":"string"}}`, "name")
}

func askColour() *sdk.ElicitParams {
	return question("What is your favourite colour?", `{"color":{"type":"string"}}`, "color")
}

func askConfirm() *sdk.ElicitParams {
	return question("Please confirm.", `{"ok":{"type":"boolean"}}`, "ok")
}

func askContext() *sdk.ElicitParams {
	return question("What is it about?", `{"context":{"type":"string"}}`, "context")
}

// rounds are the tools that ask with their result and are called again with
// the answers.
func (f *fixtures) rounds() map[string]toolFixture {
	return map[string]toolFixture{
		"test_input_required_result_elicitation": {run: func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if name := text(r.Params.InputResponses, "user_name", "name"); name != "" {
				return say("Hello, %s!", name), nil
			}
			return ask("", sdk.InputRequestMap{"user_name": askName()}), nil
		}},
		"test_input_required_result_sampling": {run: func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if answer, ok := sampled(r.Params.InputResponses, "capital_question"); ok {
				return say("%s", answer), nil
			}
			return ask("", sdk.InputRequestMap{"capital_question": sampling("What is the capital of France?")}), nil
		}},
		"test_input_required_result_list_roots": {run: func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if roots, ok := r.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok {
				return say("%d roots", len(roots.Roots)), nil
			}
			return ask("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil
		}},
		"test_input_required_result_request_state":   {run: f.confirm},
		"test_input_required_result_tampered_state":  {run: f.confirm},
		"test_input_required_result_multiple_inputs": {run: f.three},
		"test_input_required_result_multi_round":     {run: f.twoRounds},
		"test_input_required_result_capabilities":    {run: whatTheClientCan},
	}
}

func ask(state string, questions sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: questions, RequestState: state}
}

// text is one field of what a person has filled in, or "".
func text(answers sdk.InputResponseMap, key, field string) string {
	value, _ := accepted(answers, key)[field].(string)
	return value
}

// accepted is what a person has filled in, or nil.
func accepted(answers sdk.InputResponseMap, key string) map[string]any {
	if answer, ok := answers[key].(*sdk.ElicitResult); ok && answer != nil && answer.Action == "accept" {
		return answer.Content
	}
	return nil
}

func sampled(answers sdk.InputResponseMap, key string) (string, bool) {
	var content []sdk.Content
	switch answer := answers[key].(type) {
	case *sdk.CreateMessageWithToolsResult:
		content = answer.Content
	case *sdk.CreateMessageResult:
		content = []sdk.Content{answer.Content}
	default:
		return "", false
	}
	for _, c := range content {
		if t, ok := c.(*sdk.TextContent); ok {
			return t.Text, true
		}
	}
	return "", false
}

// request is what the state of a call belongs to. The fixtures know no
// principals: each client has its own sealer or none has a session.
func request(r *sdk.CallToolRequest) roundtrip.Request {
	return roundtrip.Request{Method: "tools/call", Name: r.Params.Name, Args: r.Params.Arguments}
}

// open returns the data of the state that came with a call, "" for none.
func (f *fixtures) open(r *sdk.CallToolRequest) (string, error) {
	if r.Params.RequestState == "" {
		return "", nil
	}
	data, err := f.sealer.Open(request(r), r.Params.RequestState)
	if err != nil {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not valid; call again without it"}
	}
	return data, nil
}

func (f *fixtures) confirm(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	data, err := f.open(r)
	if err != nil {
		return nil, err
	}
	if data == "asked" && accepted(r.Params.InputResponses, "confirm") != nil {
		return say("state-ok: confirmed"), nil
	}
	return ask(f.sealer.Seal(request(r), "asked"), sdk.InputRequestMap{"confirm": askConfirm()}), nil
}

func (f *fixtures) three(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if _, err := f.open(r); err != nil {
		return nil, err
	}
	name := text(r.Params.InputResponses, "user_name", "name")
	greeting, greeted := sampled(r.Params.InputResponses, "greeting")
	roots, listed := r.Params.InputResponses["client_roots"].(*sdk.ListRootsResult)
	if name != "" && greeted && listed {
		return say("%s %s, with %d roots", greeting, name, len(roots.Roots)), nil
	}
	return ask(f.sealer.Seal(request(r), "asked"), sdk.InputRequestMap{
		"user_name": askName(), "greeting": sampling("Write a greeting."), "client_roots": &sdk.ListRootsParams{},
	}), nil
}

// twoRounds asks twice. What was answered first travels in the state.
func (f *fixtures) twoRounds(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	data, err := f.open(r)
	if err != nil {
		return nil, err
	}
	name := text(r.Params.InputResponses, "step1", "name")
	colour := text(r.Params.InputResponses, "step2", "color")
	known, second := strings.CutPrefix(data, "name ")
	switch {
	case second && colour != "":
		return say("%s likes %s", known, colour), nil
	case second:
		return ask(f.sealer.Seal(request(r), data), sdk.InputRequestMap{"step2": askColour()}), nil
	case data == "first" && name != "":
		return ask(f.sealer.Seal(request(r), "name "+name), sdk.InputRequestMap{"step2": askColour()}), nil
	default:
		return ask(f.sealer.Seal(request(r), "first"), sdk.InputRequestMap{"step1": askName()}), nil
	}
}

// whatTheClientCan asks only for what the client says it can answer.
func whatTheClientCan(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if len(r.Params.InputResponses) > 0 {
		return say("answered"), nil
	}
	questions := sdk.InputRequestMap{}
	if c := r.ClientCapabilities(); c != nil {
		if c.Elicitation != nil {
			questions["user_name"] = askName()
		}
		if c.Sampling != nil {
			questions["greeting"] = sampling("Write a greeting.")
		}
		if c.RootsV2 != nil {
			questions["client_roots"] = &sdk.ListRootsParams{}
		}
	}
	if len(questions) == 0 {
		return say("the client can answer nothing"), nil
	}
	return ask("", questions), nil
}
