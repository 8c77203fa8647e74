package exec

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/handrail-tools/handrail/tool"
)

var update = flag.Bool("update", false, "write what the tools answer into the behaviour files")

// TestBehaviours runs the archives beside the tools. A file of an archive is
// a file of the workspace, except
//
//	call TOOL NAME  a call, its arguments as JSON; N stands for the session
//	                that the last answer named
//	want NAME       what it answers; "! CODE" comes first if it fails
//	after PATH      what the file at PATH holds in the end
func TestBehaviours(t *testing.T) {
	archives, err := filepath.Glob("*.txtar")
	if err != nil || len(archives) != len(All()) {
		t.Fatalf("%d archives for %d tools: %v", len(archives), len(All()), err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(path, ".txtar"), func(t *testing.T) { runArchive(t, path) })
	}
}

func runArchive(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		if kind, _, _ := strings.Cut(f.Name, " "); kind != "call" && kind != "want" && kind != "after" {
			files[f.Name] = string(f.Data)
		}
	}
	b := newBench(t, files)
	b.kit.Environment.Set = []string{"GOPROXY=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local"}
	answers := map[string]string{}
	session := ""
	for i, f := range archive.Files {
		kind, name, _ := strings.Cut(f.Name, " ")
		got := ""
		switch kind {
		case "call":
			toolName, name, _ := strings.Cut(name, " ")
			answers[name], session = b.answer(toolName, string(f.Data), session)
			continue
		case "want":
			got = answers[name]
		case "after":
			got = b.content(name)
		default:
			continue
		}
		if *update {
			archive.Files[i].Data = []byte(got)
		} else if got != string(f.Data) {
			t.Errorf("%s %s:\n%s\nwant\n%s", kind, name, got, f.Data)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	sessionForm = regexp.MustCompile(`(session |session_id": |command |commands? )\d{4,5}`)
	timeForm    = regexp.MustCompile(`(after|for) \d[0-9.ms]*s`)
)

// answer makes a call, and gives its text with what is different each time
// left out, and the session that it names.
func (b *bench) answer(name, arguments, session string) (text, named string) {
	b.t.Helper()
	for _, tl := range All() {
		if tl.Spec().Name != name {
			continue
		}
		var in object
		if err := json.Unmarshal([]byte(strings.ReplaceAll(arguments, ": N", ": "+session)), &in); err != nil {
			b.t.Fatal(err)
		}
		r := b.call(tl, in)
		named = session
		if id, ok := r.Metadata["session_id"].(int); ok {
			named = fmt.Sprint(id)
		}
		text = strings.ReplaceAll(strings.TrimSuffix(r.Text, "\n")+"\n", b.dir, "$WORKSPACE")
		text = timeForm.ReplaceAllString(sessionForm.ReplaceAllString(text, "${1}N"), "$1 T")
		if !r.OK {
			text = fmt.Sprintf("! %s\n%s", r.Code, text)
		}
		return text, named
	}
	b.t.Fatalf("no tool %q", name)
	return "", ""
}

// FuzzScript: whatever a command is, it is understood within its bounds, and
// what is run is what was given.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{"cd 'a b' && make 2>&1 | tail &", "a | b || c", "echo $(rm x) > y", "cat <<E\nx\nE", "((", "x &\n", "cd ~/x && y", "\x00", "a & # c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := readScript(text)
		if s.background {
			if rest := strings.TrimSpace(strings.TrimPrefix(text, s.text)); !strings.HasPrefix(text, s.text) || rest != "&" {
				t.Fatalf("%q became %q", text, s.text)
			}
		} else if s.text != text {
			t.Fatalf("%q became %q", text, s.text)
		}
		_ = looksLikeWrite(text)
	})
}

// FuzzFindings: whatever a checker says, each finding is one bounded line of a
// place.
func FuzzFindings(f *testing.F) {
	for _, seed := range []string{"a.go:1:2: x", "a(b).ts(3,4): error TS1: y", "C:\\x.cs(1): z", `{"reason":"compiler-message","message":{"level":"error","message":"m","spans":[{"file_name":"f","line_start":1,"is_primary":true}]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := unique(append(readLines(text, text), readCargo(text, "")...), "/w")
		for i, one := range found {
			line := one.String()
			if strings.ContainsAny(line, "\n\r") || len(line) > findingBytes || one.file == "" {
				t.Fatalf("%q", line)
			}
			for _, other := range found[:i] {
				if other.String() == line {
					t.Fatalf("twice: %q", line)
				}
			}
		}
		if n := strings.Count(listFindings(found, maxFindings), "\n"); n > maxFindings+3 {
			t.Fatalf("%d lines", n)
		}
	})
}

func FuzzKeys(f *testing.F) {
	f.Add("ctrl-c", true)
	f.Add("up", false)
	f.Fuzz(func(t *testing.T, name string, application bool) {
		code, err := encodeKeys([]string{name}, application)
		if (err == nil) == (code == "") {
			t.Fatalf("%q: %q, %v", name, code, err)
		}
		if e, ok := err.(*tool.Error); err != nil && (!ok || len(e.Text) > tool.MaxErrorText) {
			t.Fatalf("%v", err)
		}
	})
}
