//go:build unix

package file

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// TestF033_ReadDoesNotHang: also behind a link.
func TestF033_ReadDoesNotHang(t *testing.T) {
	b := newBench(t, map[string]string{"x": "x"})
	if err := syscall.Mkfifo(filepath.Join(b.dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("p", filepath.Join(b.dir, "l")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for _, name := range []string{"p", "l"} {
		for _, r := range []*tool.Result{
			b.read(object{"path": name}),
			b.rewrite(object{"path": name, "content": "x"}),
			b.edit(object{"path": name, "old_string": "a", "new_string": "b"}),
		} {
			if r.OK || !strings.Contains(r.Text, "named pipe") {
				t.Errorf("%s: %s", name, r.Text)
			}
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
