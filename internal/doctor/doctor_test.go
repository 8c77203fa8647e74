package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func find(t *testing.T, facts []Fact, group, name string) Fact {
	t.Helper()
	for _, f := range facts {
		if f.Group == group && f.Name == name {
			return f
		}
	}
	t.Fatalf("no fact %s/%s in %v", group, name, facts)
	return Fact{}
}

func TestExamine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Readme"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	facts := Examine(t.Context(), Subject{Workspace: dir, StateDir: filepath.Join(dir, "a", "b")})
	for _, f := range facts {
		if f.Group == "" || f.Name == "" || f.Value == "" || f.State != OK && f.State != Missing && f.State != Unknown {
			t.Errorf("incomplete fact %+v", f)
		}
	}
	if f := find(t, facts, "workspace", "root"); f.State != OK || f.Value != dir {
		t.Errorf("root: %+v", f)
	}
	if f := find(t, facts, "state", "directory"); f.State != OK || !strings.HasSuffix(f.Value, "(made at first use)") {
		t.Errorf("state: %+v", f)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("asking made the state directory")
	}
	if runtime.GOOS == "linux" {
		if f := find(t, facts, "workspace", "letter case"); f.Value != "told apart" && f.Value != "ignored" {
			t.Errorf("letter case: %+v", f)
		}
		find(t, facts, "machine", "kernel")
		find(t, facts, "fence", "landlock")
	}
}

func TestMissingWorkspace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{filepath.Join(dir, "none"), file} {
		facts := Examine(t.Context(), Subject{Workspace: root, StateDir: file})
		if f := find(t, facts, "workspace", "root"); f.State != Missing || f.Matters == "" {
			t.Errorf("%s: %+v", root, f)
		}
		if f := find(t, facts, "state", "directory"); f.State != Missing || f.Matters == "" {
			t.Errorf("state in %s: %+v", root, f)
		}
	}
}

func TestMissingGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if f := find(t, Examine(t.Context(), Subject{Workspace: t.TempDir()}), "programs", "git"); f.State != Missing {
		t.Errorf("without a PATH git is %+v", f)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 30: "5.0 GiB", 1 << 63: "8.0 EiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %s, want %s", n, got, want)
		}
	}
}
