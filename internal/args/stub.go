package args

import "encoding/json"

type Schema struct{}
type Decoded struct {
	Args    json.RawMessage
	Repairs []string
}

func Compile(toolName string, schema json.RawMessage, argAliases map[string][]string) (*Schema, error) {
	return &Schema{}, nil
}
func (s *Schema) Decode(raw json.RawMessage) (Decoded, error) { return Decoded{Args: raw}, nil }
func (s *Schema) Example() json.RawMessage                    { return nil }
