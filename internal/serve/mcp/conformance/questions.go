package conformance

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// questions are the tools that ask their client in the revisions in which a
// server may.
func questions() map[string]toolFixture {
	return map[string]toolFixture{
		"test_sampling": {
			schema: `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
			run: func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				var in struct{ Prompt string }
				if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
					return nil, err
				}
				answer, err := r.Session.CreateMessage(ctx, sampling(in.Prompt))
				if err != nil {
					return nil, err
				}
				text, _ := answer.Content.(*sdk.TextContent)
				if text == nil {
					return say("LLM response: no text"), nil
				}
				return say("LLM response: %s", text.Text), nil
			},
		},
		"test_elicitation": {
			schema: `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
			run: func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				var in struct{ Message string }
				if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
					return nil, err
				}
				return elicit(ctx, r, in.Message, `{"username":{"type":"string"},"email":{"type":"string"}}`)
			},
		},
		"test_elicitation_sep1034_defaults": asks(`{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
		"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","default":true}}`),
		"test_elicitation_sep1330_enums": asks(`{
		"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}`),
	}
}

// asks is a tool that asks for the properties.
func asks(properties string) toolFixture {
	return toolFixture{run: func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return elicit(ctx, r, "Please fill in the form.", properties)
	}}
}

func elicit(ctx context.Context, r *sdk.CallToolRequest, message, properties string) (*sdk.CallToolResult, error) {
	answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: message, RequestedSchema: form(properties)})
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(answer.Content)
	if err != nil {
		return nil, err
	}
	return say("Elicitation completed: action=%s, content=%s", answer.Action, content), nil
}

func form(properties string, required ...string) json.RawMessage {
	if required == nil {
		required = []string{}
	}
	names, _ := json.Marshal(required) // strings can be marshalled
	return raw(`{"type":"object","properties":` + properties + `,"required":` + string(names) + `}`)
}

func sampling(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{
		Messages:  []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}},
		MaxTokens: 100,
	}
}
