package file

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

// TestL4_SpellingsOfMoves: the names that models bring from other systems.
func TestL4_SpellingsOfMoves(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\n"})
	for _, tt := range []struct {
		tool   tool.Tool
		given  string
		answer string
	}{
		{MoveFile(), `{"from":"f","to":"g"}`, "Moved f to g."},
		{MoveFile(), `{"oldPath":"g","newPath":"h"}`, "Moved g to h."},
		{MoveFile(), `{"src":"h","dest":"f","overwrite":"true"}`, "Moved h to f."},
		{MakeDir(), `{"directory":"d"}`, "Made the folder d."},
		{DeleteFile(), `{"filePath":"d","recursive":null}`, "Deleted the folder d, which was empty."},
		{DeleteFile(), `{"file":"f"}`, "Deleted f (2 bytes)."},
	} {
		spec := tt.tool.Spec()
		schema, err := args.Compile(spec.Name, spec.Input, spec.ArgAliases)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := schema.Decode(json.RawMessage(tt.given))
		if err != nil {
			t.Errorf("%s %s: %v", spec.Name, tt.given, err)
			continue
		}
		if r := b.call(tt.tool, decoded.Args); !r.OK || r.Text != tt.answer {
			t.Errorf("%s %s: %s", spec.Name, tt.given, r.Text)
		}
	}
}

// TestContractOfMoves holds the tools to the promises that every tool makes.
func TestContractOfMoves(t *testing.T) {
	for _, tt := range []struct {
		tool     tool.Tool
		examples []tooltest.Example
	}{
		{MoveFile(), []tooltest.Example{
			{Args: `{"source":"f","destination":"n/g"}`},
			{Args: `{"source":"d","destination":"e"}`},
			{Args: `{"source":"f","destination":"d/x"}`, Code: tool.CodeFailed},
			{Args: `{"source":"missing","destination":"g"}`, Code: tool.CodeFailed},
			{Args: `{"source":"f","destination":"../g"}`, Code: tool.CodeDenied},
			{Args: `{"source":"d","destination":"d/e"}`, Code: tool.CodeInvalidInput},
		}},
		{DeleteFile(), []tooltest.Example{
			{Args: `{"path":"f"}`},
			{Args: `{"path":"d","recursive":true}`},
			{Args: `{"path":"d"}`, Code: tool.CodeFailed},
			{Args: `{"path":".git/config"}`, Code: tool.CodeDenied},
		}},
		{MakeDir(), []tooltest.Example{
			{Args: `{"path":"n/m"}`},
			{Args: `{"path":"f"}`, Code: tool.CodeFailed},
			{Args: `{"path":".git"}`, Code: tool.CodeDenied},
		}},
	} {
		t.Run(tt.tool.Spec().Name, func(t *testing.T) {
			b := newBench(t, nil)
			for i := range tt.examples {
				tt.examples[i].Setup = func(testing.TB) {
					for _, name := range []string{"n", "e"} {
						if err := os.RemoveAll(filepath.Join(b.dir, name)); err != nil {
							t.Fatal(err)
						}
					}
					b.write("f", "a\nb\n")
					b.write("d/x", "x\n")
					b.write(".git/config", "git\n")
				}
			}
			tooltest.Run(t, tt.tool, tooltest.Options{
				Examples: tt.examples, Dir: b.dir,
				Context: func(ctx context.Context) context.Context { return workspace.With(ctx, b.w) },
			})
		})
	}
}

// TestActsOfMoves: what would be touched is named exactly.
func TestActsOfMoves(t *testing.T) {
	b := newBench(t, map[string]string{"d/f": "f", "d/g": "g"})
	for name, target := range map[string]string{"d/l": "f", "d/out": "/etc/passwd", "ld": "d"} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		tool                          tool.Tool
		args                          string
		reads, writes, entries, trees string
	}{
		{MoveFile(), `{"source":"d/f","destination":"n/f"}`, "[d/f]", "[]", "[d/f n/f]", "[d/f]"},
		{MoveFile(), `{"source":"ld/f","destination":"ld/n"}`, "[ld/f]", "[]", "[ld/f ld/n]", "[ld/f]"},
		{MoveFile(), `{"source":"d/l","destination":"d/out"}`, "[]", "[]", "[d/l d/out]", "[]"},
		{DeleteFile(), `{"path":"d/f"}`, "[]", "[]", "[d/f]", "[]"},
		{DeleteFile(), `{"path":"d/out"}`, "[]", "[]", "[d/out]", "[]"},
		{DeleteFile(), `{"path":"d","recursive":true}`, "[]", "[]", "[d]", "[d]"},
		{MakeDir(), `{"path":"n/m"}`, "[]", "[n/m]", "[]", "[]"},
	} {
		act, err := tt.tool.(tool.Assesser).Assess(workspace.With(t.Context(), b.w), &tool.Call{Args: json.RawMessage(tt.args)})
		if err != nil || fmt.Sprint(act.Reads) != tt.reads || fmt.Sprint(act.Writes) != tt.writes ||
			fmt.Sprint(act.Entries) != tt.entries || fmt.Sprint(act.Trees) != tt.trees || act.Summary == "" {
			t.Errorf("%s %s: %+v, %v", tt.tool.Spec().Name, tt.args, act, err)
		}
	}
}

// TestDeleteIsBounded: a folder goes whole or not at all.
func TestDeleteIsBounded(t *testing.T) {
	b := newBench(t, nil)
	for i := range maxDeleted - 2 {
		b.write(fmt.Sprintf("many/s/%d", i), "x")
	}
	b.write("many/one", "x")
	all := map[string]any{"path": "many", "recursive": true}
	if r := b.call(DeleteFile(), all); r.OK || !strings.Contains(r.Text, "more than 1000 entries") || !strings.Contains(r.Text, "Nothing was deleted") {
		t.Errorf("%d entries: %s", maxDeleted+1, r.Text)
	}
	if b.content("many/s/0") != "x" || b.content("many/one") != "x" {
		t.Error("something is gone")
	}
	if r := b.call(DeleteFile(), map[string]any{"path": "many/one"}); !r.OK {
		t.Fatal(r.Text)
	}
	r := b.call(DeleteFile(), all)
	if !r.OK || r.Text != "Deleted the folder many with everything in it: 998 files, 1 folder, 998 bytes." || len(r.Changed) != maxDeleted {
		t.Errorf("%s, %d changed", r.Text, len(r.Changed))
	}
	big := filepath.Join(b.dir, "big")
	b.write("big/f", "")
	if err := os.Truncate(filepath.Join(big, "f"), maxDeletedSize+1); err != nil {
		t.Fatal(err)
	}
	if r := b.call(DeleteFile(), map[string]any{"path": "big", "recursive": true}); r.OK || !strings.Contains(r.Text, "64.0 MiB") {
		t.Errorf("a large file: %s", r.Text)
	}
	if r := b.call(DeleteFile(), map[string]any{"path": "big/f"}); !r.OK {
		t.Errorf("a large file by itself: %s", r.Text)
	}
}

// TestL40_WhatWasSeenMoves: a file that was seen whole may be overwritten
// under its new name, and one of which a part was seen may not.
func TestL40_WhatWasSeenMoves(t *testing.T) {
	b := newBench(t, map[string]string{"d/whole": strings.Repeat("line\n", 1000), "d/part": strings.Repeat("line\n", 1000)})
	for _, call := range []struct {
		tool tool.Tool
		args map[string]any
		ok   bool
	}{
		{ReadFile(), map[string]any{"path": "d/whole"}, true},
		{ReadFile(), map[string]any{"path": "d/part", "limit": 3}, true},
		{MoveFile(), map[string]any{"source": "d", "destination": "e"}, true},
		{WriteFile(), map[string]any{"path": "e/whole", "content": "x\n"}, true},
		{WriteFile(), map[string]any{"path": "e/part", "content": "x\n"}, false},
		{DeleteFile(), map[string]any{"path": "e/part"}, true},
		{WriteFile(), map[string]any{"path": "e/part", "content": "x\n"}, true},
	} {
		if r := b.call(call.tool, call.args); r.OK != call.ok {
			t.Errorf("%s %v: %s", call.tool.Spec().Name, call.args, r.Text)
		}
	}
}
