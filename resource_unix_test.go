//go:build unix

package handrail_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// A pipe that nobody writes to, and a device, are refused at once, and listed
// nowhere.
func TestContentNeverWaitsForAPipe(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": ""})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, handrail.Options{Workspace: dir, Files: handrail.WorkspaceOptions{ReadOnlyDirs: []string{"/dev"}}})
	start := time.Now()
	for _, path := range []string{"pipe", "/dev/zero", "../../../../../../dev/zero"} {
		if c, err := s.Content(t.Context(), file(path)); codeOf(err) != tool.CodeFailed && codeOf(err) != tool.CodeDenied || c.Text != "" || c.Media != nil {
			t.Errorf("%s: %+v, %v", path, c, err)
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	if paths, _, err := s.Files(t.Context(), handrail.FileQuery{}); err != nil || len(paths) != 1 {
		t.Errorf("%q, %v", paths, err)
	}
}
