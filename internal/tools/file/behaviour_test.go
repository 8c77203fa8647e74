package file

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/handrail-tools/handrail/tool"
)

var update = flag.Bool("update", false, "write what the tools answer into the archives of testdata")

// TestBehaviours runs the archives of testdata. A file of an archive is a
// file of the workspace, except
//
//	call NAME   a call: the tool's name and its arguments as JSON
//	want NAME   what it answers; "! CODE" comes first if it fails, and
//	            $WORKSPACE stands for the root
//	after PATH  what the file at PATH holds in the end
//
// Calls run in the order of the archive, in one session.
func TestBehaviours(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { runArchive(t, path) })
	}
}

func runArchive(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range archive.Files {
		if kind, _, _ := strings.Cut(f.Name, " "); kind != "call" && kind != "want" && kind != "after" {
			files[f.Name] = string(f.Data)
		}
	}
	b := newBench(t, files)
	answers := make(map[string]string)
	for i, f := range archive.Files {
		kind, name, _ := strings.Cut(f.Name, " ")
		var got string
		switch kind {
		case "call":
			answers[name] = b.run(string(f.Data))
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

// run makes one call of an archive.
func (b *bench) run(call string) string {
	b.t.Helper()
	name, args, _ := strings.Cut(strings.TrimSpace(call), " ")
	for _, tl := range All() {
		if tl.Spec().Name != name {
			continue
		}
		r, err := tl.Run(b.around(context.Background()), &tool.Call{Tool: name, Args: json.RawMessage(args)})
		if err != nil {
			r = tool.FromError(err)
		}
		text := strings.ReplaceAll(strings.TrimSuffix(r.Text, "\n")+"\n", b.dir, "$WORKSPACE")
		if !r.OK {
			text = fmt.Sprintf("! %s\n%s", r.Code, text)
		}
		return text
	}
	b.t.Fatalf("no tool %q", name)
	return ""
}
