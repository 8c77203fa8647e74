package history

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// The test binary plays the process that is killed when this variable names
// the workspace.
const victimVar = "HANDRAIL_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimVar); dir != "" {
		playVictim(dir, filepath.Join(filepath.Dir(dir), "state", "history"))
	}
	os.Exit(m.Run())
}

// playVictim changes files in every way, and undoes, without end.
func playVictim(dir, state string) {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	h, err := Open(state, Options{})
	check(err)
	line, err := h.For(Place{Top: dir, Tree: fmt.Sprint("s_", os.Getpid())})
	check(err)
	w, err := workspace.Open(dir, workspace.Options{Recorder: line})
	check(err)
	fmt.Println("ready")
	for i := 0; ; i++ {
		ctx := workspace.WithSource(context.Background(), workspace.Source{Session: "victim", CallID: fmt.Sprint(os.Getpid(), " ", i), Tool: "test"})
		switch i % 4 {
		case 0:
			_, err = w.WriteFile(ctx, "a", fmt.Appendf(nil, "%d\n%0*d\n", i, rand.IntN(60_000), 0), workspace.WriteOptions{})
		case 1:
			_, err = w.Apply(ctx, []workspace.Step{
				{Op: workspace.OpWrite, Name: "b", Data: fmt.Appendf(nil, "%d\n", i)},
				{Op: workspace.OpWrite, Name: fmt.Sprintf("d%d/c", i), Data: []byte("c\n")},
			})
		case 2:
			_, err = w.Apply(ctx, []workspace.Step{{Op: workspace.OpMove, Name: fmt.Sprintf("d%d/c", i-1), To: "e" + strconv.Itoa(i)}})
		case 3:
			_, err = line.Undo(ctx, w, UndoOptions{})
		}
		check(err)
	}
}

// TestKill9 kills a process that changes files at random moments. After each
// time, every change in the history has its contents, what was interrupted is
// said to be, and all of it together can be taken back to the very beginning.
// HANDRAIL_KILL_ROUNDS sets how many times.
func TestKill9(t *testing.T) {
	rounds := 25
	if long, err := strconv.Atoi(os.Getenv("HANDRAIL_KILL_ROUNDS")); err == nil {
		rounds = long
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	interrupted, changes := 0, 0
	for range rounds {
		b := newBench(t, Options{}, map[string]string{"a": "0\n", "b": "0\n"})
		start := b.tree()
		for range 2 { // the second goes on with what the first has left
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), victimVar+"="+b.dir)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed; that is the point
		}
		all := b.list()
		changes += len(all)
		for _, c := range all {
			if c.Status == Interrupted {
				interrupted++
			} else if c.Status != Done || c.Partial {
				t.Errorf("%s is %s", c.ID, c.Status)
			}
			for _, f := range c.Files {
				for _, s := range []struct {
					in *record
					of *FileState
				}{{f.first, f.Before}, {f.last, f.After}} {
					if got := b.line.sideOf(s.in, s.of); got.lost {
						t.Errorf("%s has lost a content of %s", c.ID, f.Path)
					}
				}
			}
		}
		if len(all) == 0 {
			continue
		}
		b.undo(UndoOptions{ID: all[len(all)-1].ID, Since: true, Anybody: true})
		b.write("after", "x") // which sweeps what is left of temporary files
		b.undo(UndoOptions{})
		if diff := cmp.Diff(start, b.tree()); diff != "" {
			t.Fatalf("taken back, the tree differs (-want +got):\n%s", diff)
		}
	}
	t.Logf("%d rounds, %d changes, %d of them interrupted", rounds, changes, interrupted)
}
