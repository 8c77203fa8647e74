package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write puts text into dir/name and returns the path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadOrder(t *testing.T) {
	dir, ws := t.TempDir(), t.TempDir()
	req := Request{
		Workspace: ws,
		UserFile: write(t, dir, "user.json", `{"permission": {"mode": "read-only", "approval": "always", "deny": ["A"]},
			"surface": "claude", "profiles": {"p": {"permission": {"deny": ["C"]}}}}`),
		File:    write(t, dir, "named.json", `{"permission": {"approval": "untrusted", "deny": ["B"]}}`),
		Profile: "p",
		Flags:   Settings{Permission: Permission{Mode: "full-access"}},
	}
	own := write(t, ws, WorkspaceFile, `{"permission": {"mode": "workspace-write", "deny": ["D"]}}`)
	got, err := Load(req)
	if err != nil {
		t.Fatal(err)
	}
	want := Permission{Mode: "workspace-write", Approval: "untrusted", Deny: []string{"A", "B", "C", "D"}}
	if diff := cmp.Diff(want, got.Permission); diff != "" {
		t.Errorf("permission (-want +got):\n%s", diff)
	}
	if got.Surface != "claude" {
		t.Errorf("surface is %q", got.Surface)
	}
	if diff := cmp.Diff([]string{req.UserFile, req.File, own}, got.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	text := "the tool policy is not valid:\n- permission.deny: \"B\" is odd\npermission.deny: \"Z\" is odd"
	located := "the tool policy is not valid:\n" + req.File + ":1:51: permission.deny: \"B\" is odd\npermission.deny: \"Z\" is odd"
	if got := got.Locate(text); got != located {
		t.Errorf("located\n%s\nwant\n%s", got, located)
	}
}

func TestLoadWithoutFiles(t *testing.T) {
	base := BuiltinProfiles()["workspace-write"]
	got, err := Load(Request{Base: base, Workspace: t.TempDir(), UserFile: filepath.Join(t.TempDir(), "none.json")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(base, got.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestLoadReportsAllFilesAtOnce(t *testing.T) {
	dir, ws := t.TempDir(), t.TempDir()
	user := write(t, dir, "user.json", `{"polcy": {}}`)
	missing := filepath.Join(dir, "missing.json")
	own := write(t, ws, WorkspaceFile, `{"surface": "claude"}`)
	_, err := Load(Request{Workspace: ws, UserFile: user, File: missing, Profile: "nobody"})
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Fatalf("got %v, want three problems", err)
	}
	for i, prefix := range []string{user + ":1:2: ", missing + ": reading the settings: ", own + ":1:2: "} {
		if !strings.HasPrefix(problems[i].String(), prefix) {
			t.Errorf("problem %d is %q, want it to start with %q", i, problems[i], prefix)
		}
	}
}

func TestLoadUnknownProfile(t *testing.T) {
	_, err := Load(Request{Profile: "readonly"})
	want := `no profile is called "readonly" (did you mean "read-only"?); there are full-access, read-only, workspace-write`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestHostileWorkspaceFile puts things in the place of the workspace's file
// that would block, overflow or lead out of the workspace.
func TestHostileWorkspaceFile(t *testing.T) {
	outside := write(t, t.TempDir(), "config.json", `{"permission": {"mode": "read-only"}}`)
	tests := []struct {
		name, want string
		make       func(t *testing.T, path string) error
	}{
		{"FIFO", "not a regular file", func(_ *testing.T, path string) error { return syscall.Mkfifo(path, 0o644) }},
		{"directory", "not a regular file", func(_ *testing.T, path string) error { return os.Mkdir(path, 0o755) }},
		{"link to the outside", "escapes", func(_ *testing.T, path string) error { return os.Symlink(outside, path) }},
		{"huge", "larger than", func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 1<<40))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws := t.TempDir()
			path := filepath.Join(ws, filepath.FromSlash(WorkspaceFile))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), tt.make(t, path)); err != nil {
				t.Fatal(err)
			}
			_, err := Load(Request{Workspace: ws})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}

func TestTrustedFilesAreClosed(t *testing.T) {
	ws := t.TempDir()
	user := filepath.Join(ws, ".config", "handrail", "config.json") // not made yet
	t.Chdir(ws)
	write(t, ws, "c[1].json", `{}`)
	got, err := Load(Request{Workspace: ws, UserFile: user, File: "c[1].json"})
	if err != nil {
		t.Fatal(err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{user, filepath.Join(cwd, "c[1].json")}, got.Closed); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
}

func TestUserFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Setenv("HOME", t.TempDir())
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if got, want := UserFile(), filepath.Join(dir, "handrail", "config.json"); runtime.GOOS == "linux" && got != want {
		t.Errorf("the user's file is %s, want %s", got, want)
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	if got := UserFile(); got != "" {
		t.Errorf("without a home the user's file is %q", got)
	}
}
