package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/internal/tools"
)

// surfaced returns a view of all built-in tools under a surface.
func surfaced(t *testing.T, name string) (*surface.Surface, *registry.View) {
	t.Helper()
	s, err := surface.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New()
	if err := r.AddAll(slices.Concat(tools.Always(), tools.Files(), tools.History(), tools.Commands()), registry.Options{}); err != nil {
		t.Fatal(err)
	}
	v, err := registry.NewView(r, registry.ViewConfig{Surface: s, Exposure: registry.Exposure{Deferred: true}})
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// node is the part of a schema that these tests look at.
type node struct {
	Type       any             `json:"type"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
	Enum       []any           `json:"enum"`
}

func parse(t *testing.T, schema json.RawMessage) node {
	t.Helper()
	var n node
	if err := json.Unmarshal(schema, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// at returns the property of a path such as todos[].content.
func (n node) at(path string) (node, bool) {
	for name := range strings.SplitSeq(path, ".") {
		name, isList := strings.CutSuffix(name, "[]")
		next, ok := n.Properties[name]
		if !ok {
			return node{}, false
		}
		if isList {
			if next.Items == nil {
				return node{}, false
			}
			next = *next.Items
		}
		n = next
	}
	return n, true
}

// Every property that a surface shows is one of the tool behind it, and
// every property of the tool can be reached under some name that the surface
// shows: what a tool's own advice names exists.
func TestSurfacesFitTheirTools(t *testing.T) {
	for _, name := range surface.Names() {
		s, v := surfaced(t, name)
		reached := map[string]map[string]bool{} // tool -> its arguments
		for _, form := range s.Tools() {
			t.Run(name+"/"+form.Name, func(t *testing.T) {
				r, err := v.Resolve(form.Name)
				if err != nil {
					t.Fatalf("the tool %s behind it is not there: %v", form.Target, err)
				}
				if form.Schema == nil {
					return
				}
				shown, own := parse(t, form.Schema), parse(t, r.Entry.Spec.Input)
				if reached[r.Name] == nil {
					reached[r.Name] = map[string]bool{}
				}
				for from, to := range form.Renames() {
					reached[r.Name][to] = true
					theirs, ok := own.at(to)
					if !ok {
						t.Errorf("%s becomes %s, which the tool does not have", from, to)
						continue
					}
					if form.Wraps(from) && theirs.Items != nil {
						theirs = *theirs.Items
					}
					if ours, _ := shown.at(from); ours.Enum == nil && fmt.Sprint(ours.Type) != fmt.Sprint(theirs.Type) {
						t.Errorf("%s is of type %v and becomes %s of type %v", from, ours.Type, to, theirs.Type)
					}
				}
				for _, to := range form.Sets() {
					reached[r.Name][to] = true
				}
				tryEveryProperty(t, r, shown)
			})
		}
		for target, args := range reached {
			r, err := v.Resolve(target)
			if err != nil {
				t.Fatal(err)
			}
			for property := range parse(t, r.Entry.Spec.Input).Properties {
				if !args[property] {
					t.Errorf("%s: no form of %s has its argument %s", name, target, property)
				}
			}
		}
	}
}

// tryEveryProperty makes the smallest valid call with each property in turn,
// with each value that its enum has: none is refused on its way to the tool.
func tryEveryProperty(t *testing.T, r *registry.Resolved, shown node) {
	t.Helper()
	for property, n := range shown.Properties {
		for _, value := range samples(n) {
			var call map[string]any
			if err := json.Unmarshal(r.Args.Example(), &call); err != nil {
				t.Fatal(err)
			}
			call[property] = value
			raw, err := json.Marshal(call)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := r.Decode(raw)
			if err != nil {
				t.Errorf("%s: %v", raw, err)
			} else if len(decoded.Repairs) > 0 {
				t.Errorf("%s needs repairs: %q", raw, decoded.Repairs)
			}
		}
	}
}

func samples(n node) []any {
	if n.Enum != nil {
		return n.Enum
	}
	switch n.Type {
	case "string":
		return []any{"x"}
	case "integer", "number":
		return []any{1}
	case "boolean":
		return []any{true, false}
	case "array":
		if n.Items == nil {
			return []any{[]any{}}
		}
		var lists []any
		for _, item := range samples(*n.Items) {
			lists = append(lists, []any{item})
		}
		return lists
	case "object":
		whole := map[string]any{}
		for name, p := range n.Properties {
			whole[name] = samples(p)[0]
		}
		return []any{whole}
	}
	return nil
}

// Calls as models of the family write them become calls of the tools.
func TestClaudeCalls(t *testing.T) {
	_, v := surfaced(t, "claude")
	for _, c := range []struct{ name, args, tool, want string }{
		{"Read", `{"file_path":"/w/main.go"}`, "read_file", `{"path":"/w/main.go"}`},
		{"Read", `{"file_path":"main.go","offset":120,"limit":40}`, "read_file", `{"path":"main.go","start_line":120,"limit":40}`},
		{"Read", `{"file_path":"main.go","start_line":120}`, "read_file", `{"path":"main.go","start_line":120}`},
		{"Write", `{"file_path":"a.txt","content":"x\n"}`, "write_file", `{"path":"a.txt","content":"x\n"}`},
		{"Edit", `{"file_path":"a.txt","old_string":"a","new_string":"b","replace_all":true}`, "edit_file",
			`{"path":"a.txt","old_string":"a","new_string":"b","replace_all":true}`},
		{"MultiEdit", `{"file_path":"a.txt","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"","replace_all":true}]}`, "edit_file",
			`{"path":"a.txt","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"","replace_all":true}]}`},
		{"Glob", `{"pattern":"**/*.go","path":"internal"}`, "glob", `{"pattern":"**/*.go","path":"internal"}`},
		{"Grep", `{"pattern":"func main"}`, "grep", `{"pattern":"func main","output_mode":"files"}`},
		{"Grep", `{"pattern":"a.*b","path":"src","glob":"*.{ts,tsx}","type":"ts","output_mode":"content","-A":2,"-B":1,"-n":true,"-i":true,"head_limit":20,"offset":5,"multiline":true}`,
			"grep", `{"pattern":"a.*b","path":"src","glob":["*.{ts,tsx}"],"type":["ts"],"output_mode":"content","after":2,"before":1,` +
				`"line_numbers":true,"ignore_case":true,"limit":20,"offset":5,"multiline":true}`},
		{"Grep", `{"pattern":"x","output_mode":"count","-C":3}`, "grep", `{"pattern":"x","output_mode":"count","context":3}`},
		{"Bash", `{"command":"make test","description":"Run the tests","timeout":30000}`, "shell", `{"command":"make test","description":"Run the tests","timeout_ms":30000}`},
		{"Bash", `{"command":"npm start","run_in_background":true}`, "shell", `{"command":"npm start","background":true}`},
		{"BashOutput", `{"bash_id":4711}`, "write_stdin", `{"session_id":4711}`},
		{"KillShell", `{"shell_id":4711}`, "write_stdin", `{"session_id":4711,"end":true}`},
		{"LS", `{"path":"internal"}`, "list_dir", `{"path":"internal"}`},
		{"TodoWrite", `{"todos":[{"content":"Fix it","status":"in_progress","activeForm":"Fixing it"},{"content":"Test","status":"pending","activeForm":"Testing"}]}`,
			"update_plan", `{"plan":[{"step":"Fix it","status":"in_progress","active_form":"Fixing it"},{"step":"Test","status":"pending","active_form":"Testing"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, refused := v.Resolve(c.name)
			if refused != nil {
				t.Fatal(refused)
			}
			got, err := r.Decode(json.RawMessage(c.args))
			if err != nil {
				t.Fatal(err)
			}
			if r.Name != c.tool || string(got.Args) != c.want {
				t.Errorf("%s became\n     %s %s\nwant %s %s", c.args, r.Name, got.Args, c.tool, c.want)
			}
		})
	}
}

// The own names keep working under every surface.
func TestOwnNamesUnderASurface(t *testing.T) {
	_, v := surfaced(t, "claude")
	r, refused := v.Resolve("read_file")
	if refused != nil {
		t.Fatal(refused)
	}
	if _, err := r.Decode(json.RawMessage(`{"path":"a","start_line":2}`)); err != nil {
		t.Error(err)
	}
}
