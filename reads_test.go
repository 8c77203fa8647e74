package handrail_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// put writes a file of a test's workspace.
func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRepeatedReads: a view that the model was given whole is not given again
// while it still has it, and never without a receipt.
func TestRepeatedReads(t *testing.T) {
	dir := t.TempDir()
	const secret = "hunter2-hunter2-hunter2"
	put(t, dir, "f", "one\ntwo\nthree\n")
	put(t, dir, "secret", "password "+secret+"\n")
	s := open(t, handrail.Options{Workspace: dir, ShortenRepeats: true, Secrets: map[string]string{"pw": secret},
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}})
	read := func(args string) *tool.Result {
		t.Helper()
		r := run(s, "read_file", args)
		if !r.OK {
			t.Fatalf("%s: %s", args, r.Text)
		}
		return r
	}
	stub := func(r *tool.Result) bool { return strings.Contains(r.Text, "is unchanged, and result ") }

	first := read(`{"path":"f"}`)
	if stub(first) || first.ID == "" {
		t.Fatalf("%q, id %q", first.Text, first.ID)
	}
	if r := read(`{"path":"./f"}`); !stub(r) || !strings.Contains(r.Text, first.ID) {
		t.Errorf("the same view again: %q", r.Text)
	}
	if r := read(`{"path":"f"}`); r.Text != first.Text {
		t.Errorf("asked once more: %q", r.Text)
	}
	if r := read(`{"path":"f","start_line":2}`); stub(r) {
		t.Errorf("another window: %q", r.Text)
	}
	s.ContextCompacted()
	if r := read(`{"path":"f"}`); r.Text != first.Text {
		t.Errorf("after the context was compacted: %q", r.Text)
	}
	put(t, dir, "f", "one\ntwo\nfour\n")
	if r := read(`{"path":"f"}`); stub(r) || !strings.Contains(r.Text, "four") {
		t.Errorf("another content: %q", r.Text)
	}
	for range 3 {
		if r := read(`{"path":"secret"}`); stub(r) || strings.Contains(r.Text, secret) {
			t.Errorf("a redacted view: %q", r.Text)
		}
	}
	child, err := s.Child(t.Context(), handrail.ChildOptions{Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(child, "read_file", `{"path":"f"}`); !r.OK || stub(r) {
		t.Errorf("another model was not given it: %q", r.Text)
	}

	plain := open(t, handrail.Options{Workspace: dir})
	for range 3 {
		if r := run(plain, "read_file", `{"path":"f"}`); !r.OK || stub(r) || r.Metadata["view"] != nil {
			t.Errorf("nobody asked for it: %q %v", r.Text, r.Metadata)
		}
	}
}

// TestReadPaging: the probe counts and changes nothing.
func TestReadPaging(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 600 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	put(t, dir, "f", lines.String())
	var log bytes.Buffer
	probed := open(t, handrail.Options{Workspace: dir, ProbeReads: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}})
	plain := open(t, handrail.Options{Workspace: dir})
	for _, args := range []string{`{"path":"f"}`, `{"path":"f","start_line":501}`, `{"path":"f","limit":3}`} {
		if a, b := run(probed, "read_file", args), run(plain, "read_file", args); a.Text != b.Text {
			t.Errorf("%s: the probe changes the answer", args)
		}
	}
	if r := run(probed, "write_file", `{"path":"f","content":"short\n"}`); !r.OK {
		t.Fatal(r.Text)
	}
	want := handrail.ReadPaging{Unbounded: 1, Paged: 1, Continued: 1, Overwritten: 1}
	if got := probed.ReadPaging(); got != want || plain.ReadPaging() != (handrail.ReadPaging{}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := probed.Close(); err != nil || !strings.Contains(log.String(), "Overwritten:1") {
		t.Errorf("%v, log %s", err, log.String())
	}
}

// TestReadRulesHoldForPictures: what read_file may not show, view_image does
// not show either, and several files are judged one by one.
func TestReadRulesHoldForPictures(t *testing.T) {
	dir := t.TempDir()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "secret.png", picture.String())
	put(t, dir, "open.png", picture.String())
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"read_file(secret*)"}}})
	for _, c := range []struct {
		tool, args string
		code       tool.Code
	}{
		{"view_image", `{"path":"secret.png"}`, tool.CodeDenied},
		{"view_image", `{"path":"./open.png"}`, ""},
		{"read_file", `{"path":"secret.png"}`, tool.CodeDenied},
		{"read_file", `{"paths":["open.png","secret.png"]}`, tool.CodeDenied},
		{"read_file", `{"paths":["open.png","open.png"]}`, ""},
	} {
		if r := run(s, c.tool, c.args); r.Code != c.code || c.code != "" && len(r.Media) > 0 {
			t.Errorf("%s %s: %q %s", c.tool, c.args, r.Code, r.Text)
		}
	}
}
