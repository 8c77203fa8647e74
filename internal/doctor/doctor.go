// Package doctor asks the machine what it offers: each fact comes from a
// probe that tries the thing, never from a version number. Nothing is
// changed by asking, except that an unprivileged child process is started
// where the question is whether one can be.
package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
)

// Fact is one answer.
type Fact struct {
	// Group and Name say what was asked, for example "fence" and "openat2".
	Group string `json:"group"`
	Name  string `json:"name"`
	// State says whether the thing is to be had.
	State State `json:"state"`
	// Value is the answer in a few words.
	Value string `json:"value"`
	// Matters says what follows, or "" where nothing does.
	Matters string `json:"matters,omitempty"`
}

// State says how a probe went.
type State string

const (
	// OK: it is there and works.
	OK State = "ok"
	// Missing: it is not to be had on this machine.
	Missing State = "missing"
	// Unknown: the probe itself could not be made.
	Unknown State = "unknown"
)

// Subject is what the facts are about.
type Subject struct {
	// Workspace is the root of the workspace.
	Workspace string
	// StateDir is where results and history are kept.
	StateDir string
}

// programTimeout is how long one program may take to answer a probe. They
// answer in milliseconds; a broken installation must not hang the report.
const programTimeout = 5 * time.Second

// Examine makes every probe, in a fixed order. It returns within seconds.
func Examine(ctx context.Context, s Subject) []Fact {
	facts := []Fact{{Group: "machine", Name: "system", State: OK, Value: runtime.GOOS + "/" + runtime.GOARCH}}
	facts = append(facts, system(ctx)...)
	facts = append(facts, fences(ctx)...)
	facts = append(facts, git(ctx))
	facts = append(facts, workspaceFacts(s.Workspace)...)
	return append(facts, stateDir(s.StateDir))
}

func git(ctx context.Context) Fact {
	f := Fact{Group: "programs", Name: "git"}
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		f.State, f.Value, f.Matters = Missing, reason(err), "Handrail itself does without git"
		return f
	}
	f.State, f.Value = OK, strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	return f
}

func workspaceFacts(root string) []Fact {
	f := Fact{Group: "workspace", Name: "root", Value: root}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		f.State, f.Value, f.Matters = Missing, reason(err), "no tool can work without a workspace"
		return []Fact{f}
	case !info.IsDir():
		f.State, f.Value, f.Matters = Missing, root+" is not a directory", "no tool can work without a workspace"
		return []Fact{f}
	}
	f.State = OK
	return append([]Fact{f, letterCase(root)}, fileSystem("workspace", root)...)
}

// letterCase asks whether the file system of dir tells readme from README,
// by looking for something that exists under its other spelling.
func letterCase(dir string) Fact {
	f := Fact{Group: "workspace", Name: "letter case"}
	for _, name := range append([]string{dir}, entries(dir)...) {
		other := filepath.Join(filepath.Dir(name), swapCase(filepath.Base(name)))
		if other == name {
			continue
		}
		a, err := os.Lstat(name)
		if err != nil {
			continue
		}
		b, err := os.Lstat(other)
		if err == nil && os.SameFile(a, b) {
			f.State, f.Value = OK, "ignored"
			f.Matters = "two names that differ in case are one file here"
			return f
		}
		f.State, f.Value = OK, "told apart"
		return f
	}
	f.State, f.Value = Unknown, "the workspace has no name with a letter in it"
	return f
}

// entries returns some paths in dir.
func entries(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(64)
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// stateDir asks whether dir, or the nearest directory above that exists, can
// be written.
func stateDir(dir string) Fact {
	f := Fact{Group: "state", Name: "directory", Value: dir}
	if dir == "" {
		f.State, f.Value = Unknown, "none is set"
		return f
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			f.State, f.Value = Missing, at+" is not a directory"
		case err == nil && !writable(at):
			f.State, f.Value = Missing, at+" cannot be written"
		case err == nil && at == dir:
			f.State, f.Value = OK, dir
		case err == nil:
			f.State, f.Value = OK, dir+" (made at first use)"
		case at == filepath.Dir(at):
			f.State, f.Value = Missing, reason(err)
		default:
			continue
		}
		if f.State != OK {
			f.Matters = "results cannot be kept, so no session opens"
		}
		return f
	}
}

// size writes a number of bytes for a person.
func size(n uint64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < len("KMGTPE")-1 {
		value, prefix = value/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[prefix])
}
