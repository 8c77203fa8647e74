package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func (f *fixtures) addResources() {
	for uri, c := range map[string]sdk.ResourceContents{
		"test://static-text":      {MIMEType: "text/plain", Text: "This is the content of the static text resource."},
		"test://static-binary":    {MIMEType: "image/png", Blob: decoded(picture)},
		"test://watched-resource": {MIMEType: "text/plain", Text: "Nobody changes this."},
	} {
		name := strings.TrimPrefix(uri, "test://")
		f.server.AddResource(&sdk.Resource{URI: uri, Name: name, MIMEType: c.MIMEType}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return contentsOf(r, c), nil
		})
	}
	f.server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json",
	}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
		data, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
		if err != nil {
			return nil, err
		}
		return contentsOf(r, sdk.ResourceContents{MIMEType: "application/json", Text: string(data)}), nil
	})
}

func contentsOf(r *sdk.ReadResourceRequest, c sdk.ResourceContents) *sdk.ReadResourceResult {
	c.URI = r.Params.URI
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}
}

func user(content sdk.Content) *sdk.PromptMessage {
	return &sdk.PromptMessage{Role: "user", Content: content}
}

func prompt(messages ...*sdk.PromptMessage) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: messages}, nil
	}
}

func (f *fixtures) addPrompts() {
	add := func(name string, h sdk.PromptHandler, args ...string) {
		p := &sdk.Prompt{Name: name, Title: strings.ReplaceAll(name, "_", " "), Description: description}
		for _, arg := range args {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: arg, Description: "anything", Required: true})
		}
		f.server.AddPrompt(p, h)
	}
	add("test_simple_prompt", prompt(user(&sdk.TextContent{Text: "This is a simple prompt for testing."})))
	add("test_prompt_with_image", prompt(user(image()), user(&sdk.TextContent{Text: "Please analyze the image above."})))
	add("test_prompt_with_arguments", func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		words := fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"])
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{user(&sdk.TextContent{Text: words})}}, nil
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			user(embedded(r.Params.Arguments["resourceUri"])), user(&sdk.TextContent{Text: "Please process the embedded resource above."}),
		}}, nil
	}, "resourceUri")
	add("test_input_required_result_prompt", func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if about := text(r.Params.InputResponses, "user_context", "context"); about != "" {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{user(&sdk.TextContent{Text: "It is about " + about})}}, nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": askContext()}}, nil
	})
}
