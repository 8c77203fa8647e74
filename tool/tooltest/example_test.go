package tooltest_test

import (
	"context"
	"testing"

	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

type greeting struct {
	Name string `json:"name" jsonschema:"whom to greet" min:"1"`
}

func greet() tool.Tool {
	return tool.Func("greet", "Greets a person by name.", tool.Pure, func(_ context.Context, in greeting) (string, error) {
		if in.Name == "" {
			return "", tool.Invalidf("name must not be empty")
		}
		return "Hello, " + in.Name + "!", nil
	})
}

// A test of one's own tool is one call.
func ExampleRun() {
	var t *testing.T // what go test hands to TestGreet below

	testGreet := func() {
		tooltest.Run(t, greet(), tooltest.Options{
			Examples: []tooltest.Example{{Args: `{"name":"Ada"}`}},
		})
	}
	_ = testGreet
}

func TestGreet(t *testing.T) {
	tooltest.Run(t, greet(), tooltest.Options{
		Examples: []tooltest.Example{{Args: `{"name":"Ada"}`}},
	})
}
