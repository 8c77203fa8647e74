package workspace

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// raceTime is how long each engine is raced for reading and for writing.
const raceTime = 500 * time.Millisecond

// swapping exchanges two names of a folder without pause until stopped.
func swapping(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !over.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("exchanging: %v", err)
				return
			}
		}
	})
	return func() {
		over.Store(true)
		wg.Wait()
	}
}

// racing says whether to go on: until the time is up, and on a busy machine
// until something was written at all.
func racing(begin time.Time, wrote int) bool {
	past := time.Since(begin)
	return past < raceTime || wrote == 0 && past < 20*raceTime
}

// TestL39_SwapRace lets a thread exchange a folder and a link that leads
// out, as fast as it can, while files are read and written through the name.
func TestL39_SwapRace(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		out := hostile(t, dir)
		if err := os.WriteFile(dir+"/x/s.txt", []byte("inside"), 0o644); err != nil {
			t.Fatal(err)
		}
		w := open(Options{})
		ctx := context.Background()
		stop := swapping(t, dir+"/x", dir+"/dir-out")
		var read, wrote, refused int
		for end := time.Now().Add(raceTime); time.Now().Before(end); {
			f, err := w.ReadFile(ctx, "x/s.txt", 100)
			switch {
			case err != nil:
				refused++
			case string(f.Data) == secret:
				t.Fatal("read the file outside")
			default:
				read++
			}
		}
		for begin := time.Now(); racing(begin, wrote); {
			if _, err := w.WriteFile(ctx, "x/w.txt", []byte("mine"), WriteOptions{}); err == nil {
				wrote++
			}
			if _, err := w.Edit(ctx, "x/s.txt", func(File) ([]byte, error) { return []byte("inside!"), nil }); err == nil {
				wrote++
			}
		}
		stop()
		t.Logf("read %d, wrote %d, refused %d", read, wrote, refused)
		if read == 0 || wrote == 0 || refused == 0 {
			t.Errorf("the race did not take place: read %d, wrote %d, refused %d", read, wrote, refused)
		}
		if entries, _ := os.ReadDir(out); len(entries) != 1 {
			t.Errorf("outside holds %v", entries)
		}
		if b, _ := os.ReadFile(out + "/s.txt"); string(b) != secret {
			t.Errorf("the file outside is %q", b)
		}
	})
}

// TestSwapRaceOntoProtected races a plain folder against a link to .git,
// which lies inside: what is judged must be what is written.
func TestSwapRaceOntoProtected(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		hostile(t, dir)
		w := open(Options{})
		stop := swapping(t, dir+"/x", dir+"/to-git")
		wrote := 0
		for begin := time.Now(); racing(begin, wrote); {
			if _, err := w.WriteFile(context.Background(), "x/config", []byte("mine"), WriteOptions{}); err == nil {
				wrote++
			}
		}
		stop()
		if b, _ := os.ReadFile(filepath.Join(dir, ".git/config")); string(b) != "git" {
			t.Errorf(".git/config is %q after %d writes", b, wrote)
		}
		if wrote == 0 {
			t.Error("nothing was written at all")
		}
	})
}

// TestL39_SwapRaceOfChanges moves, removes and makes things through a name
// that a thread exchanges for a link without pause, ten thousand times in
// all: half of them with the link leading out, half with it leading to .git.
// What the link leads to never gains, loses or changes an entry.
func TestL39_SwapRaceOfChanges(t *testing.T) {
	const rounds = 2500 // per engine and link
	for link, victim := range map[string]string{"dir-out": "../outside", "to-git": ".git"} {
		t.Run(link, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
				hostile(t, dir)
				lay(t, dir, map[string]string{"x/f": "inside", "x/s.txt": "inside", "x/config": "inside", "x/sub/f": "inside"})
				victim := filepath.Join(dir, victim)
				want := snapshot(t, victim)
				w, ctx := open(Options{}), context.Background()
				stop := swapping(t, dir+"/x", dir+"/"+link)
				done, refused := 0, 0
				for i := range rounds {
					steps := [][]Step{
						{mv("x/f", "x/g")}, {mv("x/g", "x/f")}, {mv("x/s.txt", "a/s.txt")}, {mv("a/s.txt", "x/s.txt")},
						{mv("x/config", "a/config")}, {over("a/config", "x/config")}, {mkdir("x/n/m"), mv("x/f", "x/n/m/f")},
						{mv("x/n/m/f", "x/f"), rm("x/n/m"), rm("x/n")}, {mv("x/sub", "a/sub")}, {mv("a/sub", "x/sub")}, {rm("x/r"), mv("x/f", "x/k"), mv("x/k", "x/f")},
						{mkdir("x/e")}, {rm("x/e")}, {over("a/in.txt", "x/s.txt"), mkdir("x/z")}, {rm("x/z")}, {mv("x/s.txt", "a/in.txt")},
					}[rand.IntN(16)]
					if i%250 == 249 {
						steps = []Step{write("x/r", "new"), write("x/f", "new")}
					}
					if _, err := w.Apply(ctx, steps); err == nil {
						done++
					} else {
						refused++
					}
				}
				stop()
				t.Logf("done %d, refused %d", done, refused)
				if done == 0 || refused == 0 {
					t.Errorf("the race did not take place: done %d, refused %d", done, refused)
				}
				if diff := cmp.Diff(want, snapshot(t, victim)); diff != "" {
					t.Errorf("what the link leads to: %s", diff)
				}
				for name, content := range snapshot(t, dir) {
					if (content == secret && name != "hard" && name != "id_rsa" && name != ".ssh/config") || content == "git" && !strings.Contains(name, ".git/") && name != "hard-git" {
						t.Errorf("%s is %q", name, content)
					}
				}
			})
		})
	}
}
