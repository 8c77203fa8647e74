package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/tools/ops"
	"github.com/handrail-tools/handrail/tool"
)

var update = flag.Bool("update", false, "write what the tools answer into the behaviour files")

// simple is a tool that is nothing but its declaration.
type simple tool.Spec

func (s simple) Spec() tool.Spec { return tool.Spec(s) }

func (s simple) Run(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("ok"), nil }

func declare(name, description, tags string) tool.Tool {
	return simple{
		Name: name, Description: description, Tags: strings.Fields(tags), Effects: tool.Read,
		Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
	}
}

// setup is what a behaviour file may say of its session.
type setup struct {
	Deny     []string `json:"deny"`
	Away     []string `json:"away"`
	Deferred bool     `json:"deferred"`
}

// session returns a context with a view of some tools and those of ops.
func session(t *testing.T, s setup) (context.Context, *registry.Registry) {
	t.Helper()
	r := registry.New()
	if err := r.AddAll(append(ops.All(),
		declare("read_file", "Reads a text file.\n\nLong files are read in parts.", "fs"),
		declare("write_file", "Writes a file atomically.", "fs"),
		declare("grep", "Searches the contents of files for a pattern.", "search"),
		declare("glob", "Finds files by the pattern of their names.", "search"),
		declare("web_search", "Searches the web.", "web"),
		declare("web_fetch", "Fetches a page of the web.", "web"),
	), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(policy.Config{Deny: s.Deny}, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := registry.NewView(r, registry.ViewConfig{
		Policies: []*policy.Policy{p},
		Exposure: registry.Exposure{Deferred: s.Deferred, Away: s.Away},
	})
	if err != nil {
		t.Fatal(err)
	}
	return registry.WithView(context.Background(), v), r
}

// call runs a tool of ops the way the journey does.
func call(t *testing.T, ctx context.Context, name, args string) *tool.Result {
	t.Helper()
	r, refused := registry.ViewFrom(ctx).Resolve(name)
	if refused != nil {
		return tool.FromError(refused)
	}
	decoded, err := r.Decode(json.RawMessage(args))
	if err != nil {
		return tool.FromError(err)
	}
	res, err := r.Entry.Tool.Run(ctx, &tool.Call{Tool: r.Name, Args: decoded.Args})
	if err != nil {
		return tool.FromError(err)
	}
	return res
}

// TestBehaviours runs the .txtar file beside each tool. A file "call …" has
// the arguments of a call, the file "want …" after it the answer; "setup"
// says what the session is like. Run with -update to write the answers.
func TestBehaviours(t *testing.T) {
	files, err := filepath.Glob("*.txtar")
	if err != nil || len(files) != len(ops.All()) {
		t.Fatalf("%d behaviour files for %d tools, %v", len(files), len(ops.All()), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".txtar")
		t.Run(name, func(t *testing.T) { behave(t, name, file) })
	}
}

func behave(t *testing.T, name, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s setup
	ctx, _ := session(t, s)
	var answer string
	for i, f := range archive.Files {
		kind, title, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "setup":
			s = setup{}
			if err := json.Unmarshal(f.Data, &s); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			ctx, _ = session(t, s)
		case "call":
			res := call(t, ctx, name, string(f.Data))
			answer = res.Text + "\n"
			if !res.OK {
				answer = fmt.Sprintf("%s: %s\n", res.Code, res.Text)
			}
		case "want":
			if *update {
				archive.Files[i].Data = []byte(answer)
			} else if diff := cmp.Diff(string(f.Data), answer); diff != "" {
				t.Errorf("%s (-want +got):\n%s", title, diff)
			}
		default:
			t.Fatalf("a file may be setup, call or want, not %q", f.Name)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// L22: the answers come from the session as it is, not as it was.
func TestL22_SearchIsLive(t *testing.T) {
	ctx, r := session(t, setup{})
	find := func() string { return call(t, ctx, "tool_search", `{"query":"newcomer"}`).Text }
	if strings.Contains(find(), `"total":1`) {
		t.Fatal("it is there already")
	}
	if err := r.Add(declare("newcomer", "Comes late.", ""), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(find(), `"name":"newcomer"`) {
		t.Error("the search does not find a tool that came")
	}
	r.Remove("newcomer")
	if !strings.Contains(find(), `"total":0`) {
		t.Error("the search finds a tool that went")
	}
}

// However large the definitions are, the answer is bounded, is JSON, and says
// which call brings what it lacks.
func TestDefinitionsAreBounded(t *testing.T) {
	ctx, r := session(t, setup{})
	for i := range 40 {
		big := simple{
			Name: fmt.Sprintf("big_%02d", i), Description: strings.Repeat("word ", 3000), Effects: tool.Read,
			Input: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", 100_000) + `"}`),
		}
		if err := r.Add(big, registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{`{"query":"big","full":true,"limit":32}`, `{"names":["big_00","big_01"]}`, `{"query":"big","limit":32}`} {
		res := call(t, ctx, "tool_search", args)
		e, _ := r.Entry("tool_search")
		if !res.OK || !json.Valid([]byte(res.Text)) || len(res.Text) > e.Spec.OutputBytes {
			t.Errorf("%s: OK %v, %d bytes of %d", args, res.OK, len(res.Text), e.Spec.OutputBytes)
		}
		if whole := strings.Count(res.Text, `"input_schema"`); strings.Contains(args, "limit") != (whole == 0) && whole != 1 {
			t.Errorf("%s: %d whole definitions", args, whole)
		}
		if strings.Contains(args, "full") && !strings.Contains(res.Text, `call again with names: [\"big_01\", `) {
			t.Errorf("%s: the answer does not say how to go on", args)
		}
	}
}

func TestManyToolsPutAway(t *testing.T) {
	r := registry.New()
	if err := r.AddAll(ops.All(), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		if err := r.Add(declare(fmt.Sprintf("mcp__x__%03d", i), "One of many.", ""), registry.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := registry.NewView(r, registry.ViewConfig{Exposure: registry.Exposure{Deferred: true, Away: []string{"mcp__*"}}})
	if err != nil {
		t.Fatal(err)
	}
	res := call(t, registry.WithView(context.Background(), v), "activate_tools", `{}`)
	if !strings.Contains(res.Text, "200 more are put away") || strings.Count(res.Text, "mcp__x__") != 500 {
		t.Errorf("the answer has %d bytes: %s", len(res.Text), tool.Clip(res.Text))
	}
}

func TestActivateToolsNeedsDeferredExposure(t *testing.T) {
	ctx, _ := session(t, setup{})
	res := call(t, ctx, "activate_tools", `{}`)
	if res.Code != tool.CodeUnknownTool {
		t.Errorf("%s: %s", res.Code, res.Text)
	}
}

// The schemas print the limits that the code has.
func TestLimitsInWords(t *testing.T) {
	for _, tl := range ops.All() {
		s := tl.Spec()
		if strings.Contains(s.Description, "{") && strings.Contains(s.Description, "{max}") {
			t.Errorf("%s: a limit is not filled in", s.Name)
		}
		if s.Name == "activate_tools" {
			continue
		}
		for _, want := range []string{fmt.Sprintf("up to %d", ops.MaxLimit), fmt.Sprintf("At most %d", ops.DefaultLimit)} {
			if !strings.Contains(s.Description, want) {
				t.Errorf("the description of %s does not say %q", s.Name, want)
			}
		}
		for _, want := range []string{fmt.Sprintf("1 to %d", ops.MaxLimit), fmt.Sprintf(`"default":%d`, ops.DefaultLimit)} {
			if !strings.Contains(string(s.Input), want) {
				t.Errorf("the schema of %s does not say %q", s.Name, want)
			}
		}
	}
}

func TestWithoutAView(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a tool ran without a session")
		}
	}()
	_, err := ops.All()[0].Run(context.Background(), &tool.Call{Args: json.RawMessage(`{}`)})
	t.Error(errors.Join(err, errors.New("it returned")))
}
