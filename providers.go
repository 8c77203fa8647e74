package handrail

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Provider names a wire format of tool definitions.
type Provider string

// The wire formats that [ToolsJSON] writes.
const (
	// OpenAI is the Chat Completions form, which most compatible servers
	// take too.
	OpenAI Provider = "openai"
	// OpenAIResponses is the form of the Responses API.
	OpenAIResponses Provider = "openai-responses"
	// Anthropic is the form of the Messages API.
	Anthropic Provider = "anthropic"
	// Gemini is the form of generateContent, with full JSON Schema.
	Gemini Provider = "gemini"
)

// ToolsJSON writes the tools in a provider's wire format: the value of the
// request's "tools" member. The bytes are the same for the same tools, so a
// provider's prompt cache holds from turn to turn.
func ToolsJSON(p Provider, specs []Spec) ([]byte, error) {
	list := make([]any, 0, len(specs))
	for _, s := range specs {
		switch p {
		case OpenAI:
			list = append(list, map[string]any{"type": "function", "function": openAIFunction{s.Name, s.Description, s.Input}})
		case OpenAIResponses:
			list = append(list, openAIResponsesTool{"function", s.Name, s.Description, s.Input, false})
		case Anthropic:
			list = append(list, anthropicTool{s.Name, s.Description, s.Input})
		case Gemini:
			list = append(list, geminiFunction{s.Name, s.Description, s.Input})
		default:
			return nil, fmt.Errorf("unknown provider %q; it is one of %s", p,
				strings.Join([]string{string(OpenAI), string(OpenAIResponses), string(Anthropic), string(Gemini)}, ", "))
		}
	}
	if p == Gemini {
		if len(list) == 0 {
			return []byte("[]"), nil
		}
		return json.Marshal([]any{map[string]any{"functionDeclarations": list}})
	}
	return json.Marshal(list)
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type openAIResponsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type geminiFunction struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
}
