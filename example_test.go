package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// folder makes a workspace for an example.
func folder() string {
	dir, err := os.MkdirTemp("", "handrail-example-")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk\nbuy bread\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	return dir
}

func Example() {
	dir := folder()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	session, err := handrail.Open(ctx, handrail.Options{Workspace: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	// The model asks for two calls in one turn.
	results := session.Run(ctx,
		handrail.Call{Tool: "grep", Args: json.RawMessage(`{"pattern": "bread"}`)},
		handrail.Call{Tool: "write_file", Args: json.RawMessage(`{"path": "notes.txt", "content": ""}`)},
	)
	fmt.Println(results[0].OK)
	fmt.Println(results[1].Code) // the zero options only read
	// Output:
	// true
	// approval_required
}

// An own tool is a function over a struct.
func ExampleOpen_ownTool() {
	type args struct {
		City string `json:"city" jsonschema:"name of the city"`
	}
	weather := tool.Func("weather", "Tells the weather in a city.", tool.Pure,
		func(_ context.Context, in args) (string, error) { return "It rains in " + in.City + ".", nil })

	ctx := context.Background()
	session, err := handrail.Open(ctx, handrail.Options{Tools: []tool.Tool{weather}})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	fmt.Println(session.Run(ctx, handrail.Call{Tool: "weather", Args: json.RawMessage(`{"city": "Bergen"}`)})[0].Text)
	fmt.Println(session.Run(ctx, handrail.Call{Tool: "weather", Args: json.RawMessage(`{"town": 7}`)})[0].Code)
	// Output:
	// It rains in Bergen.
	// invalid_input
}

// An approver is asked about what the mode does not cover.
func ExampleApprover() {
	dir := folder()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	session, err := handrail.Open(ctx, handrail.Options{
		Workspace: dir,
		Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			fmt.Println("asked about", r.Tool, "because of", r.Rule)
			return handrail.ApprovalAnswer{Allow: true, Digest: r.Digest}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result := session.Run(ctx, handrail.Call{Tool: "write_file", Args: json.RawMessage(`{"path": "new.txt", "content": "hello\n"}`)})[0]
	fmt.Println(result.OK, result.Changed)
	// Output:
	// asked about write_file because of mode read-only
	// true [new.txt]
}

// A policy takes tools away for good; a denied tool is neither shown nor
// callable, by whatever name.
func ExamplePolicy() {
	dir := folder()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	session, err := handrail.Open(ctx, handrail.Options{
		Workspace: dir,
		Policy:    handrail.Policy{Allow: []string{"group:search", "read_file"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, spec := range session.Specs() {
		fmt.Println(spec.Name)
	}
	// Output:
	// glob
	// grep
	// list_dir
	// read_file
}

func ExampleSession_Explain() {
	dir := folder()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	session, err := handrail.Open(ctx, handrail.Options{Workspace: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	e := session.Explain(ctx, handrail.Call{Tool: "write_file", Args: json.RawMessage(`{"path": "a.txt", "content": ""}`)})
	fmt.Println(e.Outcome)
	for _, step := range e.Steps {
		if step.Rule != "" {
			fmt.Println(step.Step, step.Verdict, "by", step.Rule)
		}
	}
	// Output:
	// ask
	// permit ask by mode read-only
}

// One call writes the tools for a provider.
func ExampleToolsJSON() {
	ping := tool.Func("ping", "Answers.", tool.Pure, func(context.Context, struct{}) (string, error) { return "pong", nil })
	session, err := handrail.Open(context.Background(), handrail.Options{Tools: []tool.Tool{ping}, NoBuiltins: true})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, provider := range []handrail.Provider{handrail.OpenAI, handrail.Anthropic, handrail.Gemini} {
		text, err := handrail.ToolsJSON(provider, session.Specs())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", text)
	}
	// Output:
	// [{"function":{"name":"ping","description":"Answers.","parameters":{"type":"object","additionalProperties":false}},"type":"function"}]
	// [{"name":"ping","description":"Answers.","input_schema":{"type":"object","additionalProperties":false}}]
	// [{"functionDeclarations":[{"name":"ping","description":"Answers.","parametersJsonSchema":{"type":"object","additionalProperties":false}}]}]
}
