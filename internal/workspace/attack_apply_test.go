//go:build linux || darwin

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ownLink reports whether name is a symbolic link of the workspace itself,
// which may be removed and moved wherever it leads.
func ownLink(dir, name string) bool {
	if filepath.IsAbs(name) || strings.Contains(name, "..") || strings.Contains(filepath.Clean(name), "out/") {
		return false
	}
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func TestL36_L37_NoChangeEscapes(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		out := hostile(t, dir)
		w, ctx := open(Options{}), context.Background()
		want := snapshot(t, dir)
		for i, name := range escapes(dir) {
			within(t, name, func() {
				for what, steps := range map[string][]Step{
					"making":             {mkdir(name)},
					"writing":            {write("fresh", "x"), write(name, "x")},
					"linking":            {{Op: OpWrite, Name: name + "/l", Mode: fs.ModeSymlink, Data: []byte("x")}},
					"moving":             {mv(name+"/s.txt", "stolen")},
					"removing":           {rm(name + "/s.txt")},
					"moving a file to":   {over("a/in.txt", name+"/in.txt")},
					"moving a folder to": {mv("a", name+"/a")},
				} {
					if _, err := w.Apply(ctx, steps); err == nil {
						t.Errorf("%s %q is done", what, name)
					}
				}
				if ownLink(dir, name) {
					return
				}
				for what, steps := range map[string][]Step{
					"removing": {rm(name)}, "moving": {mv(name, fmt.Sprint("stolen", i))}, "moving to": {over("a/in.txt", name)},
				} {
					if _, err := w.Apply(ctx, steps); err == nil {
						t.Errorf("%s %q is done", what, name)
					}
				}
			})
		}
		if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"s.txt": secret}, snapshot(t, out)); diff != "" {
			t.Errorf("outside: %s", diff)
		}
	})
}

// TestLinksAreTakenAndNotFollowed removes and moves every link that leads
// where nothing may be touched.
func TestLinksAreTakenAndNotFollowed(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		out := hostile(t, dir)
		w, ctx := open(Options{}), context.Background()
		for _, name := range []string{"leaf-out", "dir-out", "dangling", "dangling-out", "loop", "proc", "zero", "to-git", "to-key", "self", "parent", "a/b/up-out"} {
			target, err := os.Readlink(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			c, err := w.Move(ctx, name, "a/moved", MoveOptions{})
			if got, _ := os.Readlink(filepath.Join(dir, "a/moved")); err != nil || got != target || c.Rel != "a/moved" {
				t.Errorf("moving %s: %q, %+v, %v", name, got, c, err)
			}
			if _, err := w.Remove(ctx, "a/moved"); err != nil {
				t.Errorf("removing what was %s: %v", name, err)
			}
		}
		if b, _ := os.ReadFile(filepath.Join(dir, ".git/config")); string(b) != "git" {
			t.Errorf(".git/config is %q", b)
		}
		if diff := cmp.Diff(map[string]string{"s.txt": secret}, snapshot(t, out)); diff != "" {
			t.Errorf("outside: %s", diff)
		}
		// Of two hard links one goes; the file outside stays.
		if c, err := w.Remove(ctx, "hard"); err != nil || c.OtherNames != 1 {
			t.Errorf("removing a hard link: %+v, %v", c, err)
		}
		if c, err := w.Move(ctx, "hard-git", "a/h", MoveOptions{}); err != nil || c.OtherNames != 1 {
			t.Errorf("moving a hard link: %+v, %v", c, err)
		}
		// Two names of one file: a rename over the other would do nothing.
		if err := os.Link(filepath.Join(dir, "a/in.txt"), filepath.Join(dir, "a/in2.txt")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Move(ctx, "a/in.txt", "a/in2.txt", MoveOptions{Overwrite: true}); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "two names of one file") {
			t.Errorf("moving a file onto its other name: %v", err)
		}
	})
}

// TestF033_SpecialFilesStay: pipes, sockets and devices are neither removed
// nor moved nor replaced, and nothing waits for them.
func TestF033_SpecialFilesStay(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		hostile(t, dir)
		l, err := net.Listen("unix", filepath.Join(shortDir(t), "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if err := os.Rename(l.Addr().String(), dir+"/socket"); err != nil {
			t.Fatal(err)
		}
		names := []string{"fifo", "self/fifo", "socket"}
		if os.Getuid() == 0 && syscall.Mknod(dir+"/zero-device", syscall.S_IFCHR|0o666, 1<<8|5) == nil {
			names = append(names, "zero-device")
		}
		w, ctx := open(Options{}), context.Background()
		want := snapshot(t, dir)
		for _, name := range names {
			for what, s := range map[string]Step{
				"removing": rm(name), "moving": mv(name, "k"), "moving to": over("a/in.txt", name), "writing": write(name, ""), "making": mkdir(name), "making beneath": mkdir(name + "/k"),
			} {
				within(t, what+" "+name, func() {
					if _, err := w.Apply(ctx, []Step{s}); err == nil {
						t.Errorf("%s %s is done", what, name)
					}
				})
			}
		}
		if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestNoMoveLiftsARule: what may not be read, written or seen at one path
// must not become so at another, by no kind of move and no detour.
func TestNoMoveLiftsARule(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		base := filepath.Dir(dir)
		lay(t, dir, map[string]string{
			"k/.aws/credentials": secret, "k/.aws/plain": "x", "deep/1/2/id_rsa": secret, "repo/.git/config": "git", "repo/src/f": "f",
			"r/ref/f": "ref", "v/vendor/f": "v", "state/journal": "j", "state2/st/journal": "j", "new/credentials": "x", "new2/hooks/x": "x",
			"plain/f": "f", "asks/closed/f": "f", "lk": "-> k",
		})
		lay(t, base, map[string]string{"granted/g/inner/f": "f", "granted/p/f": "f"})
		w := open(Options{
			Granted: []string{base + "/granted", base + "/granted/g/inner"}, ReadOnlyDirs: []string{dir + "/r/ref"},
			Protected: []string{"vendor"}, Closed: []string{dir + "/state", dir + "/state2/st", dir + "/unmade/conf"},
		})
		ctx := WithClosed(context.Background(), func(p string) bool { return p == "asks/closed/f" || p == "elsewhere/f" })
		want := snapshot(t, base)
		for _, tt := range []struct {
			from, to string
			err      error
		}{
			{"k/.aws/credentials", "plain/c", ErrUnreadable},
			{"k/.aws", "aws", ErrUnreadable},
			{"k", "kk", ErrUnreadable},
			{"lk/.aws", "aws", ErrUnreadable},
			{"deep", "d2", ErrUnreadable},
			{"deep/1/2", "d2", ErrUnreadable},
			{"repo/.git", "repo/git", ErrProtected},
			{"repo", "repo2", ErrProtected},
			{"r", "r2", ErrReadOnly},
			{"r/ref", "r2", ErrReadOnly},
			{"r/ref/f", "f", ErrReadOnly},
			{"v/vendor", "v/w", ErrProtected},
			{"v", "w", ErrProtected},
			{"state", "st", ErrUnreadable},
			{"state2", "st", ErrUnreadable},
			{"asks", "a2", ErrUnreadable},
			// A folder in the place where a rule begins to hold.
			{"new", ".aws", ErrUnreadable},
			{"new2", "plain/.git", ErrProtected},
			{"plain", "vendor", ErrProtected},
			{"plain", "unmade/conf", ErrUnreadable},
			{"plain", "r/ref/p", ErrReadOnly},
			{"plain", "elsewhere", ErrUnreadable},
			// A folder that is open by itself, or holds one.
			{base + "/granted/g", base + "/granted/h", ErrProtected},
			{base + "/granted/g/inner", base + "/granted/h", ErrProtected},
			{base + "/granted", "plain/g", ErrProtected},
			{base + "/granted/p", "plain/p", syscall.EXDEV},
			{"plain", base + "/granted/plain", syscall.EXDEV},
		} {
			for _, overwrite := range []bool{false, true} {
				if _, err := w.Move(ctx, tt.from, tt.to, MoveOptions{Overwrite: overwrite}); !errors.Is(err, tt.err) {
					t.Errorf("moving %s to %s: %v, want %v", tt.from, tt.to, err, tt.err)
				}
			}
			if _, err := w.Apply(ctx, []Step{write("fresh/x", "x"), mv(tt.from, tt.to)}); !errors.Is(err, tt.err) {
				t.Errorf("moving %s to %s among others: %v, want %v", tt.from, tt.to, err, tt.err)
			}
		}
		for _, name := range []string{"k/.aws/credentials", "repo/.git/config", "repo/.git", "r/ref/f", "r/ref", "v/vendor/f", "v/vendor", "state/journal", base + "/granted/g/inner", base + "/granted"} {
			if _, err := w.Remove(ctx, name); err == nil || !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrProtected) && !errors.Is(err, ErrReadOnly) {
				t.Errorf("removing %s: %v", name, err)
			}
		}
		for _, name := range []string{".git", "x/.git/hooks", "vendor", "r/ref/n", "state/n", "unmade/conf", ".ssh"} {
			if _, err := w.MakeDir(ctx, name); err == nil {
				t.Errorf("made %s", name)
			}
		}
		if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
			t.Error(diff)
		}
		// What no rule holds moves, between folders as well.
		if _, err := w.Move(ctx, "plain/f", base+"/granted/new/f", MoveOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := w.Move(ctx, "k/.aws/plain", "k/plain", MoveOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestBoundsOfChanges(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		w, ctx := open(Options{}), context.Background()
		if err := os.Mkdir(dir+"/many", 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range MaxMoved + 1 {
			f, err := os.Create(fmt.Sprintf("%s/many/%d", dir, i))
			if err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
		}
		if _, err := w.Move(ctx, "many", "m", MoveOptions{}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "10000") {
			t.Errorf("moving %d entries: %v", MaxMoved+1, err)
		}
		if err := os.Remove(dir + "/many/0"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Move(ctx, "many", "m", MoveOptions{}); err != nil {
			t.Errorf("moving %d entries: %v", MaxMoved, err)
		}
		if _, err := w.Apply(ctx, make([]Step, MaxSteps+1)); err == nil {
			t.Error("so many steps are taken")
		}
		ro := open(Options{ReadOnly: true})
		for _, s := range []Step{write("x", ""), rm("m/1"), mv("m", "n"), mkdir("k")} {
			if _, err := ro.Apply(ctx, []Step{s}); !errors.Is(err, ErrReadOnly) {
				t.Errorf("%+v in a read-only workspace: %v", s, err)
			}
		}
	})
}
