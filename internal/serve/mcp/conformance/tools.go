package conformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolFixture is one tool; its schema is "" where it takes nothing.
type toolFixture struct {
	schema string
	run    sdk.ToolHandler
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// A picture of one pixel and a recording without a sample.
const (
	picture   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
	recording = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
)

func decoded(text string) []byte {
	data, _ := base64.StdEncoding.DecodeString(text) // they are the constants above
	return data
}

// description is every fixture's: the suite asks for one.
const description = "Fixture of the conformance suite."

func say(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// always is a tool that gives the same content every time.
func always(content ...sdk.Content) toolFixture {
	return toolFixture{run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}}
}

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded resource"}}
}

func image() *sdk.ImageContent {
	return &sdk.ImageContent{Data: decoded(picture), MIMEType: "image/png"}
}

// contents are the tools that answer at once.
func contents() map[string]toolFixture {
	return map[string]toolFixture{
		"test_simple_text":       always(&sdk.TextContent{Text: "This is a simple text response for testing."}),
		"test_image_content":     always(image()),
		"test_audio_content":     always(&sdk.AudioContent{Data: decoded(recording), MIMEType: "audio/wav"}),
		"test_embedded_resource": always(embedded("test://embedded-resource")),
		"test_multiple_content_types": always(&sdk.TextContent{Text: "Multiple content types test:"}, image(),
			embedded("test://mixed-content-resource")),
		"test_streaming_elicitation": always(&sdk.TextContent{Text: "nothing was asked"}),
		"test_error_handling": {run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			r := say("This tool intentionally returns an error for testing")
			r.IsError = true
			return r, nil
		}},
		"json_schema_2020_12_tool": {schema: schema2020, run: func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return say("called with %s", r.Params.Arguments), nil
		}},
		"test_x_mcp_header": {
			schema: `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
			run: func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return say("called with %s", r.Params.Arguments), nil
			},
		},
		"test_missing_capability": {run: missingCapability},
	}
}

// schema2020 uses of the dialect what lesser ones lack.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

func missingCapability(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
		return say("the client can sample"), nil
	}
	return nil, &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "this tool needs a client that can sample",
		Data: raw(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

// pause separates two messages, so that they are seen to come one by one.
const pause = 50 * time.Millisecond

// reports are the tools that tell something before they answer.
func reports(f *fixtures) map[string]toolFixture {
	return map[string]toolFixture{
		"test_tool_with_logging": {run: func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				log(ctx, r, text)
				time.Sleep(pause)
			}
			return say("logged"), nil
		}},
		"test_logging_tool": {run: func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			log(ctx, r, "only for who asked for it")
			return say("logged"), nil
		}},
		"test_tool_with_progress": {run: func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			token := r.Params.GetProgressToken()
			for _, done := range []float64{0, 50, 100} {
				// A client that cannot take a report loses only the report.
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100, Message: "on the way"})
				time.Sleep(pause)
			}
			return say("%v", token), nil
		}},
		"test_reconnection": {run: func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if r.Extra != nil && r.Extra.CloseSSEStream != nil {
				r.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
			}
			time.Sleep(2 * pause)
			return say("the client came back"), nil
		}},
		"test_trigger_tool_change": {run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			f.server.AddTool(&sdk.Tool{Name: "test_added_later", Description: description, InputSchema: raw(`{"type":"object"}`)}, always().run)
			return say("the list of tools has changed"), nil
		}},
		"test_trigger_prompt_change": {run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			f.server.AddPrompt(&sdk.Prompt{Name: "test_added_later", Description: description}, prompt(user(&sdk.TextContent{Text: "added later"})))
			return say("the list of prompts has changed"), nil
		}},
	}
}

func log(ctx context.Context, r *sdk.CallToolRequest, text string) {
	// A client that cannot take a message loses only the message.
	_ = r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text})
}
