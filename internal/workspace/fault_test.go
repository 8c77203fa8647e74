package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// errFault is what a faulty folder answers.
var errFault = errors.New("a fault that was put in")

// A faultPlan decides which operations of which folders fail.
type faultPlan struct {
	fails func(op string) error
	calls []string
}

func (p *faultPlan) ask(op string) error {
	p.calls = append(p.calls, op)
	if p.fails == nil {
		return nil
	}
	return p.fails(op)
}

// faultyTree and faultyFolder stand before real ones.
type faultyTree struct {
	tree
	plan *faultPlan
}

func (t faultyTree) folder(path string) (folder, error) {
	d, err := t.tree.folder(path)
	if err != nil {
		return nil, err
	}
	return faultyFolder{d, t.plan}, nil
}

type faultyFolder struct {
	folder
	plan *faultPlan
}

func (d faultyFolder) enter(name string) (folder, error) {
	sub, err := d.folder.enter(name)
	if err != nil {
		return nil, err
	}
	return faultyFolder{sub, d.plan}, nil
}

func (d faultyFolder) create(name string, perm fs.FileMode) (*os.File, error) {
	if err := d.plan.ask("create"); err != nil {
		return nil, err
	}
	return d.folder.create(name, perm)
}

func (d faultyFolder) mkdir(name string) error {
	if err := d.plan.ask("mkdir"); err != nil {
		return err
	}
	return d.folder.mkdir(name)
}

func (d faultyFolder) rename(from string, to folder, as string, over bool) error {
	if err := d.plan.ask("rename"); err != nil {
		return err
	}
	return d.folder.rename(from, to.(faultyFolder).folder, as, over)
}

func (d faultyFolder) link(from string, to folder, as string) error {
	if err := d.plan.ask("link"); err != nil {
		return err
	}
	return d.folder.link(from, to.(faultyFolder).folder, as)
}

func (d faultyFolder) symlink(target, name string) error {
	if err := d.plan.ask("symlink"); err != nil {
		return err
	}
	return d.folder.symlink(target, name)
}

func (d faultyFolder) rmdir(name string) error {
	if err := d.plan.ask("rmdir"); err != nil {
		return err
	}
	return d.folder.rmdir(name)
}

// eachFaulty runs a test over every engine, with a plan of faults before it.
func eachFaulty(t *testing.T, fn func(t *testing.T, dir string, plan *faultPlan, w *Workspace)) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			lay(t, dir, before)
			plan := &faultPlan{}
			w, err := open(dir, Options{}, func(dir string) (tree, error) {
				tr, err := engine(dir)
				return faultyTree{tr, plan}, err
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			fn(t, dir, plan, w)
		})
	}
}

// everything is a change with every kind of step.
func everything() []Step {
	return []Step{
		write("a", "1"), write("n/e/w", "2"), mkdir("m"), mv("d/x", "m/x"), rm("l"),
		{Op: OpWrite, Name: "l", Mode: fs.ModeSymlink, Data: []byte("b")}, over("b", "gone"),
		write("d/s/y", "4"), mv("d/s/y", "y2"), rm("d/s"), rm("d"), mv("e", "n/e2"), write("out2", "3"), mv("a", "k"), rm("out"),
	}
}

// TestL50_ARollbackAtEveryFault lets every single operation on a folder fail
// in turn: each time everything is as it was, and nothing is left behind.
func TestL50_ARollbackAtEveryFault(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		ctx, want := context.Background(), with(nil)
		for at := 1; ; at++ {
			plan.calls = nil
			hit := ""
			plan.fails = func(op string) error {
				if len(plan.calls) == at {
					hit = op
					return errFault
				}
				return nil
			}
			_, err := w.Apply(ctx, everything())
			plan.fails = nil
			if hit == "" {
				if err != nil || at < 20 {
					t.Fatalf("without a fault after %d operations: %v", at, err)
				}
				break
			}
			if err == nil && hit == "link" {
				// A copy stood in for the hard link. Begin again.
				for name := range snapshot(t, dir) {
					if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
						t.Fatal(err)
					}
				}
				lay(t, dir, before)
				continue
			}
			switch {
			case err == nil:
				t.Fatalf("operation %d (%s) failed and the change did not", at, hit)
			case !errors.Is(err, errFault):
				t.Errorf("operation %d (%s): %v", at, hit, err)
			case !strings.Contains(err.Error(), "step ") || !strings.Contains(err.Error(), "everything is as it was"):
				t.Errorf("operation %d (%s) says %v", at, hit, err)
			}
			if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
				t.Fatalf("after a fault in operation %d (%s): %s", at, hit, diff)
			}
		}
		got := snapshot(t, dir)
		if got["k"] != "1" || got["l"] != "-> b" || got["gone"] != "B" || got["n/e2/"] != "" || got["m/x"] != "X" || got["y2"] != "4" || len(temps(t, dir)) > 0 {
			t.Errorf("the change that was let through made %v", got)
		}
	})
}

// TestWithoutHardLinks: backups are copies where the file system has no hard
// links, and a fault is taken back all the same.
func TestWithoutHardLinks(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		if err := os.Chmod(filepath.Join(dir, "a"), 0o750); err != nil {
			t.Fatal(err)
		}
		steps := []Step{write("a", "1"), over("b", "d/x"), rm("d/s/y"), mv("e", "k")}
		renames := 0
		plan.fails = func(op string) error {
			if op == "rename" {
				renames++
			}
			switch {
			case op == "link":
				return syscall.EPERM
			case op == "rename" && renames == 4:
				return errFault
			}
			return nil
		}
		if _, err := w.Apply(context.Background(), steps); !errors.Is(err, errFault) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(with(nil), snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
		if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Mode() != 0o750 {
			t.Errorf("the mode after the rollback is %v, %v", info.Mode(), err)
		}
		renames = 100
		if _, err := w.Apply(context.Background(), steps); err != nil {
			t.Fatal(err)
		}
		if got := snapshot(t, dir); got["a"] != "1" || got["d/x"] != "B" || len(temps(t, dir)) > 0 {
			t.Errorf("got %v", got)
		}
	})
}

// TestARollbackThatFails: the error names each path that is not as it was,
// and nothing of the old content is lost.
func TestARollbackThatFails(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		renames := 0
		plan.fails = func(op string) error {
			if op == "rename" {
				renames++
			}
			if renames == 3 { // the third step
				// Somebody else writes meanwhile, so that a is not ours.
				if err := os.WriteFile(filepath.Join(dir, "a"), []byte("theirs, longer"), 0o644); err != nil {
					t.Error(err)
				}
				renames++
				return errFault
			}
			return nil
		}
		_, err := w.Apply(context.Background(), []Step{write("a", "1"), mv("d/x", "x"), rm("d/s/y")})
		if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "a has the new content") || !strings.Contains(err.Error(), "kept as a.kept-") {
			t.Fatal(err)
		}
		got := snapshot(t, dir)
		kept := 0
		for name, content := range got {
			if strings.HasPrefix(name, "a.kept-") && content == "A" {
				kept++
			}
		}
		if kept != 1 || got["a"] != "theirs, longer" || got["d/x"] != "X" || got["d/s/y"] != "Y" {
			t.Errorf("got %v", got)
		}
	})
}

// TestToAnotherDisk: a file is copied and then removed, with its mode; a
// folder is refused. The system is made to say that the disks differ.
func TestToAnotherDisk(t *testing.T) {
	for _, overwrite := range []bool{false, true} {
		t.Run(fmt.Sprint("overwrite ", overwrite), func(t *testing.T) {
			eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
				if err := os.Chmod(filepath.Join(dir, "a"), 0o751); err != nil {
					t.Fatal(err)
				}
				to := "d/new"
				if overwrite {
					to = "d/x"
				}
				move := []Step{{Op: OpMove, Name: "a", To: to, Overwrite: true}, rm("d/s/y")}
				apart := func(fault int) {
					plan.calls = nil
					renames := 0
					plan.fails = func(op string) error {
						if op != "rename" {
							return nil
						}
						switch renames++; renames {
						case 1:
							return syscall.EXDEV
						case fault:
							return errFault
						}
						return nil
					}
				}
				for fault := 2; fault <= 4; fault++ {
					apart(fault)
					if _, err := w.Apply(context.Background(), move); !errors.Is(err, errFault) {
						t.Fatalf("fault %d: %v", fault, err)
					}
					plan.fails = nil
					if diff := cmp.Diff(with(nil), snapshot(t, dir)); diff != "" {
						t.Fatalf("fault %d: %s", fault, diff)
					}
				}
				apart(0)
				changes, err := w.Apply(context.Background(), move)
				if err != nil {
					t.Fatal(err)
				}
				want := with(map[string]string{"a": "", to: "A", "d/s/y": ""})
				if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
					t.Error(diff)
				}
				if info, err := os.Stat(filepath.Join(dir, to)); err != nil || info.Mode() != 0o751 || changes[0].Mode != 0o751 {
					t.Errorf("mode %v, change %+v, %v", info.Mode(), changes[0], err)
				}
				apart(0)
				if _, err := w.Move(context.Background(), "e", "d/e", MoveOptions{}); !errors.Is(err, syscall.EXDEV) || !strings.Contains(err.Error(), "one by one") {
					t.Errorf("a folder to another disk: %v", err)
				}
			})
		})
	}
}

// TestWhatComesIntoAMovingFolderIsJudged: somebody puts a key into a folder
// after it was judged and before it is renamed. The move is taken back, so
// the key does not become readable under another rule's eye.
func TestWhatComesIntoAMovingFolderIsJudged(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		once := true
		plan.fails = func(op string) error {
			if op == "rename" && once {
				once = false
				lay(t, dir, map[string]string{"d/.aws/credentials": secret})
			}
			return nil
		}
		if _, err := w.Move(context.Background(), "d/s", "k", MoveOptions{}); err != nil {
			t.Fatal(err)
		}
		once = true
		if err := os.RemoveAll(filepath.Join(dir, "d/.aws")); err != nil {
			t.Fatal(err)
		}
		want := snapshot(t, dir)
		_, err := w.Apply(context.Background(), []Step{mv("d", "m/d"), write("a", "1")})
		if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), "everything is as it was") {
			t.Errorf("error %v", err)
		}
		want["d/.aws/"], want["d/.aws/credentials"] = "", secret
		if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestOverwritingAGrowingFile: a log that somebody appends to all the time
// can be replaced where nobody asked for a certain version.
func TestOverwritingAGrowingFile(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		plan.fails = func(op string) error {
			if op != "create" {
				return nil
			}
			f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("more")
			return errors.Join(err, f.Close())
		}
		if _, err := w.WriteFile(context.Background(), "a", []byte("mine"), WriteOptions{}); err != nil {
			t.Error(err)
		}
		if got := snapshot(t, dir); got["a"] != "mine" {
			t.Errorf("got %v", got)
		}
	})
}
