package surface

import (
	"encoding/json"
	"testing"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// TestShow: what is shown means what it was made of.
func TestShow(t *testing.T) {
	sf, err := Load("claude")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, args, want string }{
		{"Read", `{"path":"a","start_line":3}`, `{"file_path":"a","offset":3}`},
		{"Grep", `{"pattern":"x","glob":["*.go"],"output_mode":"files","after":2}`, `{"pattern":"x","glob":"*.go","output_mode":"files_with_matches","-A":2}`},
		{"Grep", `{"pattern":"x","glob":["*.go","*.c"]}`, ""},
		{"TodoWrite", `{"plan":[{"step":"s","status":"pending"}]}`, `{"todos":[{"content":"s","status":"pending"}]}`},
		{"KillShell", `{"session_id":2,"end":true}`, `{"shell_id":2}`},
		{"KillShell", `{"session_id":2}`, ""},
		{"Bash", `{"command":"ls","timeout_ms":9007199254740993}`, `{"command":"ls","timeout":9007199254740993}`},
		{"Read", `{"unheard":1}`, ""},
		{"Read", `[]`, ""},
	} {
		form, ok := sf.ByName(c.tool)
		if !ok {
			t.Fatal(c.tool)
		}
		got, err := form.Show(json.RawMessage(c.args))
		if c.want == "" {
			if err == nil {
				t.Errorf("%s of %s is shown as %s", c.tool, c.args, got)
			}
			continue
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s of %s is %s, %v; want %s", c.tool, c.args, got, err, c.want)
			continue
		}
		back, err := form.Map(got)
		was, _ := jsondoc.Parse(c.args)
		is, _ := jsondoc.Parse(string(back))
		for _, e := range was.Elems {
			if at := is.Find(e.Key); err != nil || at == nil || at.Canonical() != e.Canonical() {
				t.Errorf("%s comes back as %s, %v", c.args, back, err)
			}
		}
	}
}
