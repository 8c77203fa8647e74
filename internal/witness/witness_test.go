package witness

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// recorder remembers what it was told.
type recorder struct {
	planned [][]workspace.Planned
	fail    error
}

func (r *recorder) Begin(_ context.Context, planned []workspace.Planned) (func(error), error) {
	if r.fail != nil {
		return nil, r.fail
	}
	r.planned = append(r.planned, planned)
	return func(error) {}, nil
}

type bench struct {
	t   testing.TB
	dir string
	rec recorder
	w   *Witness
	f   *workspace.Workspace
}

func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	for name, content := range files {
		b.write(name, content)
	}
	b.w = New(Options{Recorder: &b.rec, Dir: t.TempDir()})
	var err error
	if b.f, err = workspace.Open(b.dir, workspace.Options{Recorder: b.w.Recorder(&b.rec)}); err != nil {
		t.Fatal(err)
	}
	b.w.Watch(b.f)
	t.Cleanup(func() { _, _ = b.w.Close(), b.f.Close() })
	return b
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// during tells what the witness says of what do did.
func (b *bench) during(do func()) Receipt {
	b.t.Helper()
	watch, err := b.w.Before(context.Background(), true, false)
	if err != nil {
		b.t.Fatal(err)
	}
	do()
	return watch.After(context.Background())
}

func TestContents(t *testing.T) {
	b := newBench(t, map[string]string{"a": "old\n", "gone": "was\n"})
	r := b.during(func() {
		b.write("a", "new\n")
		b.write("made/deep", "made\n")
		_ = os.Remove(filepath.Join(b.dir, "gone"))
	})
	if got := strings.Join(r.Changed(), " "); got != "a gone made/deep" {
		t.Fatalf("changed %q", got)
	}
	want := map[string][2]string{"a": {"old\n", "new\n"}, "gone": {"was\n", ""}, "made/deep": {"", "made\n"}}
	for _, p := range b.rec.planned[0] {
		for i, s := range []*workspace.State{p.Before, p.After} {
			if (s == nil) != (want[p.Rel][i] == "") || s != nil && string(s.Data) != want[p.Rel][i] {
				t.Errorf("%s, %d: %+v", p.Rel, i, s)
			}
		}
	}
	if text := strings.Join(r.Lines(), "\n"); text != "files_changed: 3\n  a\n  gone (deleted)\n  made/deep (created)" {
		t.Errorf("%s", text)
	}
}

// TestSameTimes: a file that is changed within the clock's tick, to another
// content of the same length, is seen where the system allows it.
func TestSameTimes(t *testing.T) {
	b := newBench(t, map[string]string{"a": "old\n"})
	for i := range 50 {
		text := fmt.Sprintf("%03d\n", i)
		if r := b.during(func() { b.write("a", text) }); len(r.Changed()) != 1 {
			t.Fatalf("change %d was not seen", i)
		}
	}
	stat, err := os.Stat(filepath.Join(b.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	r := b.during(func() {
		b.write("a", "xyz\n")
		_ = os.Chtimes(filepath.Join(b.dir, "a"), stat.ModTime(), stat.ModTime())
	})
	if len(r.Changed()) != 1 {
		t.Error("a change whose time was set back was not seen")
	}
}

func TestWhatIsNotKept(t *testing.T) {
	b := newBench(t, nil)
	big := strings.Repeat("x", maxFile+1)
	b.write("big", big)
	if r := b.during(func() {}); len(r.Changed()) != 0 {
		t.Errorf("nothing was done: %v", r.Changed())
	}
	r := b.during(func() { b.write("big", big+"y") })
	text := strings.Join(r.Lines(), "\n")
	if !strings.Contains(text, "is not kept of big") || len(r.Changed()) != 1 {
		t.Errorf("%s", text)
	}
	if p := b.rec.planned[len(b.rec.planned)-1][0]; p.Before.Whole || p.Before.Data != nil {
		t.Errorf("%+v", p.Before)
	}
}

// TestOwnChanges: what a tool wrote is not a command's.
func TestOwnChanges(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n", "b": "1\n"})
	b.w.busy = func() bool { return true }
	b.during(func() {})
	if _, err := b.f.WriteFile(context.Background(), "a", []byte("by a tool\n"), workspace.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.write("b", "by a background command\n")
	r := b.during(func() {})
	if got := strings.Join(r.Changed(), " "); got != "b" {
		t.Errorf("changed %q", got)
	}
	b.write("b", "again\n")
	if got := strings.Join(b.w.Glance(context.Background()).Changed(), " "); got != "b" {
		t.Errorf("a glance sees %q", got)
	}
	if got := b.w.Glance(context.Background()).Changed(); len(got) != 0 {
		t.Errorf("twice: %q", got)
	}
}

// TestPersonBetween: what changed between two commands is nobody's.
func TestPersonBetween(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	b.during(func() {})
	b.write("a", "by a person\n")
	r := b.during(func() { b.write("c", "x") })
	if got := strings.Join(r.Changed(), " "); got != "c" {
		t.Errorf("changed %q", got)
	}
	if r = b.during(func() { b.write("a", "by a command\n") }); string(b.rec.planned[len(b.rec.planned)-1][0].Before.Data) != "by a person\n" {
		t.Errorf("the content from before is wrong: %v", r.Changed())
	}
}

func TestRecorderFails(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n"})
	b.rec.fail = os.ErrPermission
	r := b.during(func() { b.write("a", "2\n") })
	if text := strings.Join(r.Lines(), "\n"); !strings.Contains(text, "files_changed: 1") || !strings.Contains(text, "cannot be undone") {
		t.Errorf("%s", text)
	}
}

func TestNobodyWatches(t *testing.T) {
	var w *Witness
	watch, err := w.Before(context.Background(), true, false)
	if r := watch.After(context.Background()); err != nil || r.Lines() != nil || r.Changed() != nil {
		t.Errorf("%v %v", err, r)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestAgainstFullPictures changes a tree at random and holds the receipt to a
// comparison of everything.
func TestAgainstFullPictures(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	b := newBench(t, nil)
	for i := range 60 {
		b.write(fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprint(rng.Int()))
	}
	for round := range 30 {
		before := full(t, b.dir)
		r := b.during(func() {
			for range rng.Intn(8) {
				name := fmt.Sprintf("d%d/f%d", rng.Intn(8), rng.Intn(70))
				switch rng.Intn(4) {
				case 0:
					_ = os.Remove(filepath.Join(b.dir, name))
				case 1:
					_ = os.Rename(filepath.Join(b.dir, name), filepath.Join(b.dir, fmt.Sprintf("d%d/moved%d", rng.Intn(7), rng.Intn(5))))
				default:
					b.write(name, fmt.Sprint(rng.Intn(3)))
				}
			}
		})
		after := full(t, b.dir)
		var want []string
		for name := range before {
			if before[name] != after[name] {
				want = append(want, name)
			}
		}
		for name := range after {
			if _, ok := before[name]; !ok {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := r.Changed(); !slices.Equal(got, want) {
			t.Fatalf("round %d: changed %v, want %v", round, got, want)
		}
	}
}

func full(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(dir, path)
			all[rel] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestShadowIsBounded(t *testing.T) {
	s, err := openShadow(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	block := bytes.Repeat([]byte("x"), maxFile)
	n := 0
	for range maxShadow/maxFile + 5 {
		if _, ok := s.put(block); ok {
			n++
		}
	}
	if n != maxShadow/maxFile {
		t.Errorf("%d blocks were kept", n)
	}
	for range n - 1 {
		s.drop(copied{0, maxFile})
	}
	if !s.crowded() {
		t.Error("nearly everything was dropped, and it is not crowded")
	}
}

// FuzzReceipt: whatever names and states there are, the lines are bounded and
// one line each.
func FuzzReceipt(f *testing.F) {
	f.Add("a", "b\nc", true, 3)
	f.Add("\xff\x00", "~x", false, 100)
	f.Fuzz(func(t *testing.T, a, b string, deleted bool, n int) {
		r := Receipt{}
		for i := range max(0, min(n, 500)) {
			c := change{name: fmt.Sprint(a, i, b), was: &seen{}, is: &seen{}}
			if deleted {
				c.is = nil
			}
			r.changes = append(r.changes, c)
		}
		lines := r.Lines()
		if len(lines) > listed+2 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, l := range lines {
			if strings.ContainsAny(l, "\n\r") || len(l) > 400 {
				t.Fatalf("%q", l)
			}
		}
	})
}

func BenchmarkLook(b *testing.B) {
	for _, n := range []int{100, 5000} {
		b.Run(fmt.Sprint(n, " files"), func(b *testing.B) {
			files := map[string]string{}
			for i := range n {
				files[fmt.Sprintf("d%d/f%d.txt", i%50, i)] = strings.Repeat("line of text\n", 100)
			}
			w := newBench(b, files)
			time.Sleep(2 * tick)
			w.during(func() {})
			b.ReportAllocs()
			for b.Loop() {
				w.during(func() {})
			}
		})
	}
}

func BenchmarkFirstLook(b *testing.B) {
	files := map[string]string{}
	for i := range 5000 {
		files[fmt.Sprintf("d%d/f%d.txt", i%50, i)] = strings.Repeat("line of text\n", 100)
	}
	w := newBench(b, files)
	for b.Loop() {
		w.during(func() {})
		_ = w.w.Close()
	}
}
