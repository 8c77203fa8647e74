package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// envTraversals names a folder with the lists of Debian's package wfuzz,
	// /usr/share/wfuzz/wordlist where it is installed. They are not ours to
	// copy, so without it only our own strings are tried.
	envTraversals = "HANDRAIL_TRAVERSALS"
	// canary is what the files hold that nothing may read, beside a line that
	// edits try to change, and unlisted is the name of one of them that no
	// string of ours spells.
	canary, line, unlisted = "Kept-9d41-Secret", "a line to change", "unlisted-58c2"
	// callBound is how long one call may take at most.
	callBound = 10 * time.Second
)

// traversals returns our own strings that lead out of a folder, in all the
// spellings that some decoder reads so.
func traversals() []string {
	ups := []string{
		"..", "%2e%2e", "%252e%252e", "%c0%ae%c0%ae", "\xc0\xae\xc0\xae", "\xe0\x80\xae\xe0\x80\xae", "%u002e%u002e", "..%00", "..\x00", ".. ", " ..",
		"...", "....", "..;", ".\u200b.", "\uff0e\uff0e", "\u2025", "..\t", "..\n", "%2e.", "$HOME/..", "~/..", "x/../..", "./..", "missing/../..",
	}
	slashes := []string{
		"/", "\\", "//", "/./", "\\\\", "%2f", "%5c", "%252f", "%255c", "%c0%af", "\xc0\xaf", "\xe0\x80\xaf", "\u2215", "\u2044", "\uff0f", "/\\", "\\/", "/\x00/",
	}
	var all []string
	for _, up := range ups {
		for _, slash := range slashes {
			for _, depth := range []int{1, 3, 6} {
				all = append(all, strings.Repeat(up+slash, depth)+"etc"+slash+"passwd")
			}
		}
	}
	for depth := range 12 {
		up := strings.Repeat("../", depth+1)
		for _, form := range []string{"%s", "/%s", "./%s", "in.txt/%s", "sub/%s", "sub/../%s", "sub/./%s", "file:///%s", "file:%s", "~/%s", "//?/%s", "C:\\%s", "/proc/self/cwd/%s", "%sx/../"} {
			all = append(all, fmt.Sprintf(form, up+"etc/passwd"), fmt.Sprintf(form, up+"etc"), fmt.Sprintf(form, up))
		}
	}
	return append(all, "..", "/..", "/", "//", ".../", "..\x00/in.txt", "/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/self/root/etc/passwd",
		strings.Repeat("../", 5000)+"etc/passwd", strings.Repeat("sub/../", 2000)+"../etc/passwd", strings.Repeat("./", 5000)+"../etc/passwd", strings.Repeat("a", 5000)+"/../../etc")
}

// foreignTraversals are the lists that others collected.
func foreignTraversals(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv(envTraversals)
	if dir == "" {
		return nil
	}
	var all []string
	for _, name := range []string{"Injections/Traversal.txt", "vulns/dirTraversal.txt", "vulns/dirTraversal-nix.txt", "vulns/dirTraversal-win.txt"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("%s does not name the lists of the package wfuzz: %v", envTraversals, err)
		}
		for line := range strings.Lines(string(data)) {
			all = append(all, strings.NewReplacer("{FILE}", "etc/passwd", "\n", "", "\r", "").Replace(line))
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) < 2600 {
		t.Fatalf("only %d strings are in the lists", len(all))
	}
	return all
}

// A trap is a workspace six folders down, with a copy of the canary in each
// folder above it.
type trap struct{ base, ws string }

func layTrap(t *testing.T) trap {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := trap{base: base, ws: filepath.Join(base, "1/2/3/4/5/ws")}
	for dir := filepath.Dir(tr.ws); len(dir) >= len(base); dir = filepath.Dir(dir) {
		putFile(t, filepath.Join(dir, "kept/passwd"), canary+"\n"+line+"\n")
		putFile(t, filepath.Join(dir, unlisted), canary+"\n")
	}
	tr.fill(t)
	return tr
}

// fill puts into the workspace what a call has moved or deleted.
func (tr trap) fill(t *testing.T) {
	t.Helper()
	for _, name := range []string{"in.txt", "sub/in.txt"} {
		if _, err := os.Stat(filepath.Join(tr.ws, name)); err != nil {
			putFile(t, filepath.Join(tr.ws, name), "inside\n")
		}
	}
}

// empty takes out of the workspace what calls have made there: among
// thousands of names each call would be slow.
func (tr trap) empty(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(tr.ws)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(tr.ws, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outside is everything in and above the trap that is not in the workspace.
func (tr trap) outside(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	err := filepath.WalkDir(tr.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == tr.ws {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			seen[path] += string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/kept", filepath.Join(filepath.Dir(tr.base), "kept"), filepath.Join(os.TempDir(), "kept")} {
		if _, err := os.Lstat(path); err == nil {
			seen[path] = "made"
		}
	}
	return seen
}

// A slot is one string parameter of a tool: a function that makes the
// arguments of a call with that parameter as given.
type slot struct {
	name string
	args func(value string) json.RawMessage
}

// usual are values with which a call would do something, for parameters
// that are not the one that is tried.
var usual = map[string]any{
	"old_string": line, "new_string": "overwritten", "content": "overwritten", "pattern": "*", "query": "files", "diff": "--- in.txt\n+++ in.txt\n@@ -1 +1 @@\n-inside\n+x\n", "patch": "*** Begin Patch\n*** Update File: in.txt\n@@\n-inside\n+x\n*** End Patch", "edits": []any{map[string]any{"old_string": line, "new_string": "x"}},
}

// slots finds every string in the schema of a tool, however deep.
func slots(t *testing.T, spec handrail.Spec) []slot {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(spec.Input, &root); err != nil {
		t.Fatal(err)
	}
	var found []slot
	// Each string is found by a value that stands for it and is replaced.
	const here = "\u2603slot\u2603"
	var visit func(name string, schema map[string]any, build func(any) any)
	visit = func(name string, schema map[string]any, build func(any) any) {
		switch {
		case schema["enum"] != nil:
		case is(schema, "string"):
			whole, err := json.Marshal(build(here))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, slot{name, func(value string) json.RawMessage {
				return json.RawMessage(strings.Replace(string(whole), `"`+here+`"`, jsonString(value), 1))
			}})
		case is(schema, "array"):
			if items, ok := schema["items"].(map[string]any); ok {
				visit(name+"[]", items, func(v any) any { return build([]any{v}) })
			}
		case is(schema, "object"):
			properties, _ := schema["properties"].(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(properties)) {
				property, _ := properties[key].(map[string]any)
				visit(strings.TrimPrefix(name+"."+key, "."), property, func(v any) any {
					object := sample(schema, key).(map[string]any)
					object[key] = v
					return build(object)
				})
			}
		}
	}
	visit("", root, func(v any) any { return v })
	return found
}

func is(schema map[string]any, kind string) bool {
	if list, ok := schema["type"].([]any); ok {
		return slices.Contains(list, any(kind))
	}
	return schema["type"] == kind
}

// sample is a value that a schema allows, with what is required, and the
// companions that a parameter means nothing without.
func sample(schema map[string]any, with string) any {
	switch {
	case is(schema, "object"):
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		object := map[string]any{}
		for key, p := range properties {
			property, _ := p.(map[string]any)
			companion := key == "old_string" || key == "new_string"
			if value, ok := usual[key]; ok && (slices.Contains(required, any(key)) || companion && !strings.HasPrefix(with, "edits")) {
				object[key] = value
			} else if slices.Contains(required, any(key)) {
				object[key] = sample(property, "")
			}
		}
		return object
	case is(schema, "array"):
		items, _ := schema["items"].(map[string]any)
		return []any{sample(items, "")}
	case schema["enum"] != nil:
		list, _ := schema["enum"].([]any)
		return list[0]
	case is(schema, "integer"), is(schema, "number"):
		return max(1, number(schema["minimum"]))
	case is(schema, "boolean"):
		return false
	}
	return "in.txt"
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

// jsonString writes a string as JSON with its bytes as they are, also where
// they are no UTF-8.
func jsonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// texts are what a path stands in where a parameter holds a whole patch.
var texts = []string{
	"*** Begin Patch\n*** Add File: %s\n+overwritten\n*** End Patch", "*** Begin Patch\n*** Delete File: %s\n*** End Patch",
	"*** Begin Patch\n*** Update File: %s\n@@\n-" + line + "\n+x\n*** End Patch", "*** Begin Patch\n*** Update File: in.txt\n*** Move to: %s\n@@\n-inside\n+x\n*** End Patch",
	"--- a/%[1]s\n+++ b/%[1]s\n@@ -1 +1 @@\n-" + line + "\n+x\n", "--- /dev/null\n+++ %s\n@@ -0,0 +1 @@\n+x\n", "diff --git a/in.txt b/%[1]s\nrename from in.txt\nrename to %[1]s\n",
}

// TestNoPathParameterLeadsOut puts strings that lead out of the workspace
// into every string of every tool that a session shows: all of them where
// the string is a path, some where it is none as far as one can see from
// outside. Nothing outside is read, listed, made or changed, and no call
// hangs.
func TestNoPathParameterLeadsOut(t *testing.T) {
	foreign := foreignTraversals(t)
	all := slices.Concat(traversals(), foreign)
	t.Logf("%d strings of our own, %d of others", len(all)-len(foreign), len(foreign))
	if len(all)-len(foreign) < 500 {
		t.Fatal("these are too few strings")
	}
	tr := layTrap(t)
	before := tr.outside(t)
	s := open(t, handrail.Options{
		Workspace: tr.ws, Guard: handrail.GuardOff, Permission: handrail.Permission{Mode: handrail.FullAccess, Approval: handrail.Never}, Timeout: callBound,
	})
	paths := 0
	for _, spec := range s.Specs() {
		for _, sl := range slots(t, spec) {
			path := isPath(t, s, spec, sl)
			if path {
				paths++
			}
			t.Run(spec.Name+" "+sl.name, func(t *testing.T) {
				try := func(value string, kept bool) {
					if kept {
						value = strings.NewReplacer("etc", "kept").Replace(value)
					}
					tr.try(t, s, spec.Name, sl.args(value))
				}
				tr.empty(t)
				patch := slices.Contains([]string{"patch", "diff", "input"}, lastName(sl.name))
				some := 40
				if patch {
					some = 5
				}
				if path || sl.name == "glob[]" || spec.Name == "glob" { // a glob is a path, too
					some = 1
				}
				for i, value := range all {
					if i%some != 0 {
						continue
					}
					try(value, true)
					if !spec.Effects.Has(tool.Write) {
						try(value, false)
					}
					if patch {
						try(fmt.Sprintf(texts[i%len(texts)], value), true)
					}
					if i%500 == 0 {
						tr.check(t, before)
					}
				}
				tr.check(t, before)
			})
		}
	}
	if paths < 7 {
		t.Errorf("only %d parameters are recognised as paths", paths)
	}
}

func lastName(name string) string {
	name = strings.TrimSuffix(name, "[]")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// isPath reports whether a parameter is judged as a path: one that leads out
// is denied before the tool runs, and one within is not.
func isPath(t *testing.T, s *handrail.Session, spec handrail.Spec, sl slot) bool {
	t.Helper()
	denied := func(value string) bool {
		e := s.Explain(t.Context(), handrail.Call{Tool: spec.Name, Args: sl.args(value)})
		return e.Outcome == handrail.Deny && e.Code == tool.CodeDenied
	}
	return denied("../kept/passwd") && !denied("sub/in.txt")
}

func (tr trap) try(t *testing.T, s *handrail.Session, name string, args json.RawMessage) {
	t.Helper()
	tr.fill(t)
	ctx, cancel := context.WithTimeout(t.Context(), callBound)
	defer cancel()
	start := time.Now()
	r := s.Run(ctx, handrail.Call{Tool: name, Args: args})[0]
	if took := time.Since(start); took > callBound/2 {
		t.Errorf("%s %.200q took %v", name, args, took)
	}
	if leak := leaked(r.Text); leak != "" {
		t.Errorf("%s %.200q shows %s, which is outside: %.300s", name, args, leak, r.Text)
	}
}

// leaked is what an answer holds of what is outside, or "".
func leaked(text string) string {
	for _, leak := range []string{canary, unlisted, "root:x:0"} {
		if strings.Contains(text, leak) {
			return leak
		}
	}
	return ""
}

// TestTheTrapSnaps: a session that may see the canaries shows them, so the
// test above can fail.
func TestTheTrapSnaps(t *testing.T) {
	tr := layTrap(t)
	s := open(t, handrail.Options{Workspace: tr.base, Permission: handrail.Permission{Mode: handrail.FullAccess}})
	for name, args := range map[string]string{
		"read_file": `{"path":"1/2/kept/passwd"}`, "list_dir": `{"path":"1/2"}`, "glob": `{"pattern":"*","path":"1/2"}`, "grep": `{"pattern":"Kept"}`,
		"edit_file": `{"path":"1/2/kept/passwd","old_string":"a line to change","new_string":"x"}`,
	} {
		before := tr.outside(t)
		if r := run(s, name, args); !r.OK || leaked(r.Text) == "" {
			t.Errorf("%s shows nothing: %s", name, r.Text)
		}
		if changed := !maps.Equal(before, tr.outside(t)); changed != (name == "edit_file") {
			t.Errorf("after %s the folder counts as changed: %v", name, changed)
		}
	}
}

func (tr trap) check(t *testing.T, before map[string]string) {
	t.Helper()
	after := tr.outside(t)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %.100q and is %.100q", path, was, after[path])
		}
	}
	for path := range after {
		if _, known := before[path]; !known {
			t.Errorf("%s was made", path)
		}
	}
}
