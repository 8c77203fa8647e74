package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// step is one call of the scenario and what must come of it.
type step struct {
	name string
	// tool and args are the call; {id} in args becomes the id of a kept
	// result that the result before named.
	tool, args string
	// shows must stand in what the model saw, and hides must not.
	shows, hides []string
	// image says that the model must have seen a picture.
	image bool
	// code is what the server must have recorded; "" is success.
	code tool.Code
	// theirs says that the answer is the client's own: it gave the call up,
	// so what the model saw is not compared.
	theirs bool
}

// steps is the scenario that every client goes through, one call a turn.
var steps = []step{
	{name: "list a folder", tool: "list_dir", args: `{}`, shows: []string{"notes.txt"}},
	{name: "read a file", tool: "read_file", args: `{"path":"notes.txt"}`, shows: []string{"the answer is 42"}},
	{name: "write a file", tool: "write_file", args: `{"path":"made/list.txt","content":"one\ntwo\n"}`, shows: []string{"made/list.txt"}},
	{name: "edit a file", tool: "edit_file", args: `{"path":"made/list.txt","old_string":"two","new_string":"three"}`, shows: []string{"made/list.txt"}},
	{name: "search", tool: "grep", args: `{"pattern":"answer is [0-9]+"}`, shows: []string{"notes.txt", "the answer is 42"}},
	{name: "error", tool: "read_file", args: `{"path":"note.txt"}`, shows: []string{"notes.txt"}, code: tool.CodeFailed},
	{name: "cut result", tool: "glob", args: `{"pattern":"many/*","sort":"path","limit":1000}`,
		shows: []string{manyName(0), "call recall with", `start_line`}, hides: []string{manyName(many / 2)}},
	{name: "recall", tool: "recall", args: `{"id":"{id}","pattern":"` + manyName(many/2) + `"}`, shows: []string{manyName(many / 2)}},
	{name: "first page of a large file", tool: "read_file", args: `{"path":"large.txt"}`,
		shows: []string{"1│1 of a large file", `continue with {"path": "large.txt", "start_line": `}},
	{name: "image", tool: "view_image", args: `{"path":"red.png"}`, image: true},
	{name: "denied call", tool: "read_file", args: `{"path":"secret/key.txt"}`,
		shows: []string{"refused by " + denyRule}, hides: []string{secretText}, code: tool.CodeDenied},
	slowStep,
	// A call that changes files runs alone, so this one has its turn only
	// when the call before has really ended.
	{name: "after the cancelled call", tool: "write_file", args: `{"path":"made/after.txt","content":"on\n"}`, shows: []string{"made/after.txt"}},
}

// slowStep is a call that outlasts every client's patience. No tool waits for
// anything but its work, so the work has to be long: a search over the lines
// of a tree that is 15 GB large, being one file under many names, takes more
// than the half minute that a search may last.
var slowStep = step{name: "cancelled call", tool: "grep", code: tool.CodeCancelled, theirs: true,
	args: `{"path":".slow","pattern":"\\b[a-z]+\\b.*\\b[0-9]{2}\\b","multiline":true,"output_mode":"count"}`}

const (
	denyRule   = "read_file(secret/**)"
	secretText = "the key of the house"
	many       = 900
	largeLines = 20_000
	slowNames  = 15_000
	slowBytes  = 1 << 20
)

// manyName is one of the names whose list is larger than an answer.
func manyName(i int) string {
	return fmt.Sprintf("a_name_that_is_long_so_that_the_list_outgrows_its_budget_%03d.txt", i)
}

// settings are the server's: what the person who runs it wrote.
const settings = `{"permission": {"mode": "workspace-write", "deny": ["` + denyRule + `"]}}` + "\n"

// furnish makes the files that the scenario speaks of.
func furnish(dir string) error {
	files := map[string]string{"notes.txt": "the answer is 42\n", "secret/key.txt": secretText + "\n", ".slow/0.txt": slowText()}
	var large strings.Builder
	for i := range largeLines {
		fmt.Fprintln(&large, i+1, "of a large file")
	}
	files["large.txt"] = large.String()
	for i := range many {
		files["many/"+manyName(i)] = ""
	}
	var picture bytes.Buffer
	canvas := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		canvas.Set(i%64, i/64, color.RGBA{R: 200, A: 255})
	}
	if err := png.Encode(&picture, canvas); err != nil {
		return err
	}
	files["red.png"] = picture.String()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for i := 1; i < slowNames; i++ {
		if err := os.Link(filepath.Join(dir, ".slow/0.txt"), filepath.Join(dir, fmt.Sprintf(".slow/%d.txt", i))); err != nil {
			return err
		}
	}
	return nil
}

// slowText has lines of words with one digit at the end, so that the slow
// search must look at each and finds nothing.
func slowText() string {
	random := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for b.Len() < slowBytes {
		for range 14 {
			for range 2 + random.IntN(9) {
				b.WriteByte(byte('a' + random.IntN(26)))
			}
			b.WriteByte(' ')
		}
		b.WriteString("1\n")
	}
	return b.String()
}
