package handrail_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestG7_WriteRulesHoldForEveryWriter: a rule about what may be edited or
// written is a rule about the file, whichever tool changes it and by which
// name it is reached.
func TestG7_WriteRulesHoldForEveryWriter(t *testing.T) {
	const notebook = `{"cells":[{"cell_type":"code","id":"a","source":["x"],"metadata":{},"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	calls := []struct{ tool, args string }{
		{"write_file", `{"path":"kept/f","content":"new"}`},
		{"write_file", `{"path":"kept/new","content":"new"}`},
		{"write_file", `{"path":"link","content":"new"}`},
		{"edit_file", `{"path":"kept/f","old_string":"old","new_string":"new"}`},
		{"edit_file", `{"path":"door/f","old_string":"old","new_string":"new"}`},
		{"notebook_edit", `{"path":"kept/n.ipynb","cell":"0","source":"y"}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: kept/f\n@@\n-old\n+new\n*** End Patch"}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Add File: kept/new\n+new\n*** End Patch"}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: kept/f\n*** End Patch"}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Update File: free\n*** Move to: kept/f\n@@\n-free\n+new\n*** End Patch"}`},
		{"diff_edit", `{"path":"kept/f","diff":"@@ -1 +1 @@\n-old\n+new\n"}`},
		{"move_file", `{"source":"kept/f","destination":"elsewhere"}`},
		{"move_file", `{"source":"free","destination":"kept/f","overwrite":true}`},
		{"move_file", `{"source":"kept","destination":"renamed"}`},
		{"move_file", `{"source":"over","destination":"moved"}`},
		{"delete_file", `{"path":"kept/f"}`},
		{"delete_file", `{"path":"kept","recursive":true}`},
		{"delete_file", `{"path":"over","recursive":true}`},
		{"make_dir", `{"path":"kept/new"}`},
		{"delete_file", `{"path":"pointer"}`},
		{"move_file", `{"source":"pointer","destination":"elsewhere"}`},
		{"move_file", `{"source":"free","destination":"pointer","overwrite":true}`},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: pointer\n*** End Patch"}`},
	}
	for _, rules := range [][]string{{"edit_file(kept)", "edit_file(over/kept)", "edit_file(/pointer)"}, {"write_file(/kept/**)", "write_file(over/kept/f)", "write_file(pointer)"}} {
		for _, asked := range []bool{false, true} {
			dir := t.TempDir()
			files := map[string]string{"kept/f": "old\n", "kept/n.ipynb": notebook, "over/kept/f": "old\n", "free": "free\n"}
			for name, content := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				put(t, dir, name, content)
			}
			for link, target := range map[string]string{"link": "kept/f", "door": "kept", "pointer": "free", "lost": "nowhere", "out": "/etc/hostname"} {
				if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			p := handrail.Permission{Mode: handrail.FullAccess, Deny: rules}
			if asked {
				p.Ask, p.Deny = rules, nil
			}
			s := open(t, handrail.Options{Workspace: dir, Permission: p, Guard: handrail.GuardOff})
			for _, c := range calls {
				if r := run(s, c.tool, c.args); r.Code != tool.CodeDenied && (!asked || r.Code != tool.CodeApprovalRequired) {
					t.Errorf("%v, asked %v: %s %s gives %q %s", rules, asked, c.tool, c.args, r.Code, r.Text)
				}
			}
			for name, content := range files {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
					t.Errorf("%v, asked %v: %s holds %q, %v", rules, asked, name, got, err)
				}
			}
			for _, c := range []struct{ tool, args string }{
				{"write_file", `{"path":"free","content":"written"}`},
				{"delete_file", `{"path":"link"}`}, // it is the link that goes, not the file that is kept
				{"delete_file", `{"path":"lost"}`},
				{"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: out\n*** End Patch"}`},
			} {
				if r := run(s, c.tool, c.args); !r.OK {
					t.Errorf("%v, asked %v: %s %s gives %q %s", rules, asked, c.tool, c.args, r.Code, r.Text)
				}
			}
		}
	}
}
