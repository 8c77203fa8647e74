package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// segments lists the files of the bench's history, in order.
func (b *bench) segments() []string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.state, folderOf(b.dir), "*"+segmentSuffix))
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// TestNothingIsOpenedUntilSomethingIsChanged: a call that reads makes no
// file.
func TestNothingIsOpenedUntilSomethingIsChanged(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "1"})
	if _, err := b.w.ReadFile(context.Background(), "a", 100); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestF196_OnlyTheOwnerCanReadTheHistory(t *testing.T) {
	b := newBench(t, Options{}, nil)
	b.write("a", "secret")
	files := 0
	err := filepath.WalkDir(b.state, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files: %v", files, err)
	}
}

// Processes that end one after the other go on with one segment, as long as
// it is small.
func TestSegmentsAreTakenOver(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for i := range 20 {
		b.reopen(Options{})
		b.write("a", strings.Repeat(fmt.Sprint("line ", i, "\n"), 100))
	}
	if got := b.segments(); len(got) != 1 {
		t.Errorf("%d segments", len(got))
	}
	if got := len(b.list()); got != 20 {
		t.Errorf("%d changes", got)
	}
	big := make([]byte, adoptUpTo)
	for i := range big {
		big[i] = byte(i * i >> 8)
	}
	b.write("big", string(big)+strings.Repeat("\x00\x01", 1<<20))
	b.reopen(Options{})
	b.write("a", "x")
	if got := b.segments(); len(got) < 1 {
		t.Errorf("%d segments", len(got))
	}
}

// Two processes at once have a segment each, and each sees what the other
// did.
func TestTwoAtOnce(t *testing.T) {
	b := newBench(t, Options{}, nil)
	h, err := Open(b.state, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	line, err := h.For(Place{Top: b.dir, Tree: "s_two"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(b.dir, workspace.Options{Recorder: line})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := range 50 {
				target := b.w
				if i == 1 {
					target = w
				}
				ctx := callNamed(fmt.Sprint(i, "/", n))
				if _, err := target.WriteFile(ctx, fmt.Sprint("f", n%5), fmt.Appendf(nil, "%d %d\n", i, n), workspace.WriteOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := b.segments(); len(got) != 2 {
		t.Errorf("%d segments", len(got))
	}
	for _, c := range b.list() {
		if c.Status != Done {
			t.Errorf("%s is %s", c.ID, c.Status)
		}
	}
	if got := len(b.list()); got != 100 {
		t.Errorf("%d changes", got)
	}
	// Whoever began, everything comes back.
	all := b.list()
	b.undo(UndoOptions{ID: all[len(all)-1].ID, Since: true, Anybody: true})
	b.wantTree(map[string]string{})
}

func TestL54_RetentionTakesWholeOldSegmentsAndNoLivingOnes(t *testing.T) {
	const quota = 4 << 20
	b := newBench(t, Options{MaxBytes: quota}, nil)
	other, err := Open(b.state, Options{MaxBytes: quota})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	line, err := other.For(Place{Top: b.dir})
	if err != nil {
		t.Fatal(err)
	}
	done, err := line.Begin(callNamed("old"), []workspace.Planned{{Rel: "old", After: &workspace.State{Mode: 0o644, Data: []byte("x"), Size: 1, Whole: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { done(nil) }()
	content := make([]byte, 100_000)
	for i := range 120 {
		for j := range content {
			content[j] = byte((i + j) * (j | 1) >> 7 * (i + 3))
		}
		b.write("f", string(content))
		if i == 50 {
			for _, name := range b.segments() { // as if they were of last year
				if err := os.Chtimes(name, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	total, held := int64(0), false
	for _, name := range b.segments() {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
		data, err := os.ReadFile(name)
		held = held || err == nil && bytes.Contains(data, []byte(`"rel":"old"`))
	}
	if total > 2*quota+quota/4 {
		t.Errorf("the history takes %d bytes, of %d", total, quota)
	}
	if !held {
		t.Error("the segment of a living process was removed")
	}
	all := b.list()
	if len(all) < 10 || len(all) > 118 {
		t.Errorf("%d changes are left", len(all))
	}
	for _, c := range all {
		if c.Status != Done {
			continue
		}
		if _, err := b.line.Content(context.Background(), c.ID, c.Files[0].Path, true); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
}

func TestRetentionByAge(t *testing.T) {
	b := newBench(t, Options{}, nil)
	b.write("a", "1")
	b.reopen(Options{})
	old := b.segments()[0]
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-DefaultMaxAge-time.Hour)); err != nil {
		t.Fatal(err)
	}
	// Another segment is begun where this one cannot be gone on with.
	if err := os.WriteFile(old, append(readAll(t, old), "torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-DefaultMaxAge-time.Hour)); err != nil {
		t.Fatal(err)
	}
	b.write("a", "2")
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old segment is there: %v", err)
	}
}

func readAll(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A history that is cut off anywhere tells what is whole in it, and what is
// written afterwards is found as well.
func TestATornEnd(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "0\n"})
	for i := range 3 {
		b.write("a", fmt.Sprint(i+1, "\n"))
	}
	b.reopen(Options{})
	name := b.segments()[0]
	whole := readAll(t, name)
	for cut := 0; cut < len(whole); cut += 29 {
		if err := os.WriteFile(name, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		b.reopen(Options{})
		n := len(b.list())
		b.put("a", "3\n")
		b.write("a", "4\n")
		after := b.list()
		if len(after) != n+1 {
			t.Fatalf("cut at %d: %d changes, then %d", cut, n, len(after))
		}
		b.undo(UndoOptions{})
		b.wantFile("a", "3\n")
		for _, other := range b.segments() {
			if other != name {
				_ = os.Remove(other)
			}
		}
	}
}

// A change that cannot be recorded does not happen.
func TestNoRecordNoChange(t *testing.T) {
	for name, spoil := range map[string]func(b *bench) error{
		"the folder is a file":  func(b *bench) error { return os.WriteFile(b.state, nil, 0o600) },
		"the folder is a link":  func(b *bench) error { return os.Symlink(b.dir, b.state) },
		"the history is closed": func(b *bench) error { return b.h.Close() },
		"the segment is closed": func(b *bench) error {
			b.write("b", "1")
			return b.line.trail.own.file.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{}, map[string]string{"a": "1"})
			if err := spoil(b); err != nil {
				t.Fatal(err)
			}
			_, err := b.w.WriteFile(b.call(), "a", []byte("2"), workspace.WriteOptions{})
			if err == nil || !strings.Contains(err.Error(), "cannot be recorded") || strings.Contains(err.Error(), b.state) {
				t.Errorf("the answer is %v", err)
			}
			b.wantFile("a", "1")
			b.line.trail.own = nil // what was spoiled cannot be closed again
		})
	}
}

// What was rolled back is no change.
func TestRolledBack(t *testing.T) {
	b := newBench(t, Options{}, map[string]string{"a": "1"})
	done, err := b.line.Begin(b.call(), []workspace.Planned{{Rel: "a", Before: stateOfText("1"), After: stateOfText("2")}})
	if err != nil {
		t.Fatal(err)
	}
	if c := b.newest(); c.Status != Running {
		t.Errorf("it is %s", c.Status)
	}
	done(errors.New("no"))
	done(nil) // counts for nothing
	if got := b.list(); len(got) != 0 {
		t.Errorf("%d changes", len(got))
	}
}

func stateOfText(s string) *workspace.State {
	return &workspace.State{Mode: 0o644, Size: int64(len(s)), Data: []byte(s), Whole: true}
}

// A process that was killed in the middle leaves a change that says so, and
// that can be undone whether it happened or not.
func TestInterrupted(t *testing.T) {
	for _, now := range []string{"1\n", "2\n"} {
		b := newBench(t, Options{}, map[string]string{"a": now})
		if _, err := b.line.Begin(b.call(), []workspace.Planned{{Rel: "a", Before: stateOfText("1\n"), After: stateOfText("2\n")}}); err != nil {
			t.Fatal(err)
		}
		b.reopen(Options{})
		if c := b.newest(); c.Status != Interrupted {
			t.Errorf("it is %s", c.Status)
		}
		b.undo(UndoOptions{})
		b.wantFile("a", "1\n")
	}
}

func TestObjects(t *testing.T) {
	long := []byte(strings.Repeat("some line of text\n", 1000))
	random := make([]byte, 5000)
	for i := range random {
		random[i] = byte(i*i*i>>5 ^ i>>3)
	}
	contents := [][]byte{nil, []byte("x"), long, append(bytes.Clone(long[:9000]), append([]byte("inserted"), long[9000:]...)...), long[1:], random, random[:4999]}
	b := newBench(t, Options{}, nil)
	seg, _, err := func() (*segment, bool, error) {
		b.line.trail.mu.Lock()
		defer b.line.trail.mu.Unlock()
		return b.line.trail.acquire()
	}()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = seg.file.Close() }()
	var last []byte
	for _, data := range contents {
		_, c := keep(&workspace.State{Mode: 0o644, Data: data, Whole: true}, MaxKept)
		_, before := keep(&workspace.State{Mode: 0o644, Data: last, Whole: true}, MaxKept)
		batch := &batch{seg: seg}
		batch.add(c.sum, data, before.sum, last)
		if err := batch.commit(); err != nil {
			t.Fatal(err)
		}
		last = data
	}
	if seg.size > 16_000 {
		t.Errorf("%d bytes for what is mostly the same", seg.size)
	}
	x := newIndex("x")
	if err := x.scan(seg.file, seg.size); err != nil || x.damaged {
		t.Fatal(err, x.damaged)
	}
	for i, data := range contents {
		_, c := keep(&workspace.State{Mode: 0o644, Data: data, Whole: true}, MaxKept)
		got, err := x.content(seg.file, c.sum, 0)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("content %d: %d bytes, %v", i, len(got), err)
		}
		if x.objects[c.sum].depth != seg.objects[c.sum].depth {
			t.Errorf("content %d: depth %d, written as %d", i, x.objects[c.sum].depth, seg.objects[c.sum].depth)
		}
	}
}

func TestList(t *testing.T) {
	b := newBench(t, Options{}, nil)
	for i := range 5 {
		b.write(fmt.Sprint("d/f", i), "x")
	}
	all := b.list()
	ids := func(f Filter) []string {
		l, err := b.line.List(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range l.Changes {
			out = append(out, c.ID)
		}
		return out
	}
	for name, c := range map[string]struct {
		f    Filter
		want []string
	}{
		"the newest":   {Filter{Limit: 2}, []string{all[0].ID, all[1].ID}},
		"older ones":   {Filter{Limit: 2, Before: all[1].ID}, []string{all[2].ID, all[3].ID}},
		"newer ones":   {Filter{After: all[2].ID}, []string{all[0].ID, all[1].ID}},
		"of a file":    {Filter{Path: "d/f1"}, []string{all[3].ID}},
		"of a folder":  {Filter{Path: "d", Limit: 1}, []string{all[0].ID}},
		"of a name":    {Filter{Path: "d/f"}, nil},
		"of a session": {Filter{Session: "s_nobody"}, nil},
		"of the tree":  {Filter{Own: true, Limit: 1}, []string{all[0].ID}},
	} {
		if diff := cmp.Diff(c.want, ids(c.f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := b.line.List(context.Background(), Filter{Before: "c_aaaaaaaaaaaa"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("before what does not exist: %v", err)
	}
}
