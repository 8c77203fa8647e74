package handrail_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
)

// A fenced child changes nothing outside of its grants by a patch, a
// notebook, or by taking back what others did.
func TestAFencedChildPatchesAndUndoesWithinItsGrants(t *testing.T) {
	dir := tree(t, map[string]string{"docs/a.md": "a\n", "src/x.go": "x\n", "src/n.ipynb": `{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`})
	state := filepath.Join(t.TempDir(), "state")
	parent := kept(t, dir, state, func(o *handrail.Options) { o.Permission.Approval, o.Guard = handrail.Never, handrail.GuardOff })
	mustCall(t, parent, "p1", "edit_file", `{"path":"src/x.go","old_string":"x","new_string":"y"}`)
	mustCall(t, parent, "p2", "move_file", `{"source":"docs/a.md","destination":"src/a.md"}`)
	mustCall(t, parent, "p3", "write_file", `{"path":"docs/new.md","content":"new\n"}`)
	mustCall(t, parent, "p4", "move_file", `{"source":"docs/new.md","destination":"src/new.md"}`)
	log := mustCall(t, parent, "p5", "workspace_log", `{}`)
	var ids []string
	for word := range strings.FieldsSeq(log.Text) {
		if strings.HasPrefix(word, "c_") {
			ids = append(ids, word)
		}
	}
	if len(ids) != 4 {
		t.Fatalf("changes: %s", log.Text)
	}
	shown := func() string {
		var b strings.Builder
		for _, name := range []string{"docs/a.md", "docs/new.md", "src/x.go", "src/a.md", "src/new.md", "src/n.ipynb", "docs/b.md"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			fmt.Fprintf(&b, "%s %q %v\n", name, data, err == nil)
		}
		return b.String()
	}
	before := shown()
	c := child(t, parent, handrail.ChildOptions{Writable: []string{"docs/*.md"}})
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, call := range []string{
		`undo {}`, `undo {"id":"` + ids[3] + `"}`, `undo {"id":"` + ids[2] + `"}`, `undo {"id":"` + ids[0] + `"}`, `undo {"id":"` + ids[3] + `","since":true}`,
		`undo {"id":"` + ids[0] + `","paths":["docs"]}`,
		`apply_patch {"patch":` + quoted("*** Begin Patch\n*** Add File: docs/b.md\n+b\n*** Update File: src/x.go\n@@\n-y\n+z\n*** End Patch\n") + `}`,
		`apply_patch {"patch":` + quoted("*** Begin Patch\n*** Update File: src/a.md\n*** Move to: docs/b.md\n@@\n-a\n+b\n*** End Patch\n") + `}`,
		`diff_edit {"diff":` + quoted("--- a/src/x.go\n+++ b/src/x.go\n@@ -1 +1 @@\n-y\n+z\n") + `}`,
		`notebook_edit {"path":"src/n.ipynb","edit_mode":"insert","cell_type":"code","new_source":"1"}`,
	} {
		name, args, _ := strings.Cut(call, " ")
		if r := run(c, name, args); r.OK {
			t.Errorf("%s: %s", call, r.Text)
		}
		if now := shown(); now != before {
			t.Fatalf("%s changed\n%s\nto\n%s", call, before, now)
		}
	}
}
