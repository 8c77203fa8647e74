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

// TestF034_F046_GrepWaitsForNobody: a search opens no pipe, socket or device
// on its way, and reads nothing from the standard input, although that is a
// pipe which stays open and no path was given.
func TestF034_F046_GrepWaitsForNobody(t *testing.T) {
	b := newBench(t, map[string]string{"x": "needle\n"})
	for _, name := range []string{"p", "sub/p"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(b.dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, open, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	defer func() { _ = open.Close() }()
	stdin := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = stdin }()
	start := time.Now()
	if r := b.call(Grep(), object{"pattern": "needle", "no_ignore": true, "hidden": true}); r.Text != "1 match in 1 file:\nx\n1│needle" {
		t.Errorf("%s", r.Text)
	}
	r := b.call(Grep(), object{"pattern": "zzz"})
	if !strings.Contains(r.Text, "2 special files (pipe, socket or device) left out") {
		t.Errorf("the pipes are not spoken of: %s", r.Text)
	}
	if r := b.call(Grep(), object{"pattern": "needle", "path": "p"}); r.OK || !strings.Contains(r.Text, "named pipe") {
		t.Errorf("a pipe by its name: %s", r.Text)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}
