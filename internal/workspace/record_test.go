package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/tool"
)

// A witness is a recorder that looks at the disk while it is told.
type witness struct {
	mu      sync.Mutex
	t       *testing.T
	dir     string
	refuse  error
	planned [][]Planned
	disk    []map[string]string // at Begin
	ends    []error
	source  Source
}

func (r *witness) Begin(ctx context.Context, planned []Planned) (func(error), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.planned, r.disk = append(r.planned, planned), append(r.disk, snapshot(r.t, r.dir))
	r.source, _ = SourceFrom(ctx)
	if r.refuse != nil {
		return nil, r.refuse
	}
	return func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ends = append(r.ends, err)
	}, nil
}

func state(mode fs.FileMode, data string) *State {
	s := &State{Mode: mode, Size: int64(len(data)), Whole: true}
	if !mode.IsDir() {
		s.Data = []byte(data)
	}
	return s
}

func TestRecorder(t *testing.T) {
	const file, folder, link = fs.FileMode(0o644), 0o755 | fs.ModeDir, fs.ModeSymlink | 0o777
	newFolder := state(0o777|fs.ModeDir, "")
	tests := []struct {
		name  string
		steps []Step
		want  []Planned
	}{
		{"nothing", []Step{mkdir("d"), over("a", "a")}, nil},
		{"a new file and its folder", []Step{write("n/f", "F")}, []Planned{{Rel: "n", After: newFolder}, {Rel: "n/f", After: state(0o666, "F")}}},
		{"an old file", []Step{write("a", "1")}, []Planned{{Rel: "a", Before: state(file, "A"), After: state(file, "1")}}},
		{"through a link", []Step{write("l", "1")}, []Planned{{Rel: "a", Before: state(file, "A"), After: state(file, "1")}}},
		{"removals", []Step{rm("a"), rm("l"), rm("e")}, []Planned{{Rel: "a", Before: state(file, "A")}, {Rel: "l", Before: state(link, "a")}, {Rel: "e", Before: state(folder, "")}}},
		{"a move", []Step{mv("a", "c")}, []Planned{{Rel: "a", Before: state(file, "A")}, {Rel: "c", From: "a", After: state(file, "A")}}},
		{"a move into a new folder", []Step{mv("a", "n/c")}, []Planned{{Rel: "n", After: newFolder}, {Rel: "a", Before: state(file, "A")}, {Rel: "n/c", From: "a", After: state(file, "A")}}},
		{"a move over another", []Step{over("a", "b")}, []Planned{{Rel: "a", Before: state(file, "A")}, {Rel: "b", From: "a", Before: state(file, "B"), After: state(file, "A")}}},
		{"a move of a folder", []Step{mv("d", "k")}, []Planned{{Rel: "d", Before: state(folder, "")}, {Rel: "k", From: "d", After: state(folder, "")}}},
		{"moved and written", []Step{mv("a", "c"), write("c", "1")}, []Planned{{Rel: "a", Before: state(file, "A")}, {Rel: "c", From: "a", After: state(file, "1")}}},
		{"written and moved", []Step{write("a", "1"), mv("a", "c")}, []Planned{{Rel: "a", Before: state(file, "A")}, {Rel: "c", From: "a", After: state(file, "1")}}},
		{"removed and written", []Step{rm("a"), write("a", "1")}, []Planned{{Rel: "a", Before: state(file, "A"), After: state(0o666, "1")}}},
		{"made and moved", []Step{write("n", "1"), mv("n", "c")}, []Planned{{Rel: "c", From: "n", After: state(0o666, "1")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
				lay(t, dir, before)
				r := &witness{t: t, dir: dir}
				w := open(Options{Recorder: r})
				source := Source{Session: "s", CallID: "c", Tool: "t", Origin: tool.Origin{Kind: tool.OriginAgent}}
				if _, err := w.Apply(WithSource(context.Background(), source), tt.steps); err != nil {
					t.Fatal(err)
				}
				if tt.want == nil {
					if len(r.planned) != 0 {
						t.Errorf("nothing was recorded as %+v", r.planned)
					}
					return
				}
				if diff := cmp.Diff(tt.want, r.planned[0]); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(with(nil), r.disk[0]); diff != "" {
					t.Errorf("when the recorder was told: %s", diff)
				}
				if len(r.ends) != 1 || r.ends[0] != nil || r.source != source {
					t.Errorf("ends %v, source %+v", r.ends, r.source)
				}
			})
		})
	}
}

func TestRecorderOfSingleWrites(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		lay(t, dir, before)
		r := &witness{t: t, dir: dir}
		w, ctx := open(Options{Recorder: r}), context.Background()
		if _, err := w.WriteFile(ctx, "n/f", []byte("F"), WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Edit(ctx, "a", func(old File) ([]byte, error) {
			old.Data[0] = 'Z' // the old content is the caller's to spoil
			return []byte("new"), nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Edit(ctx, "b", func(old File) ([]byte, error) { return old.Data, nil }); err != nil {
			t.Fatal(err)
		}
		want := [][]Planned{
			{{Rel: "n", After: state(0o777|fs.ModeDir, "")}, {Rel: "n/f", After: state(0o666, "F")}},
			{{Rel: "a", Before: state(0o644, "A"), After: state(0o644, "new")}},
		}
		if diff := cmp.Diff(want, r.planned); diff != "" {
			t.Error(diff)
		}

		r.refuse = errors.New("no room for history")
		after := snapshot(t, dir)
		for what, do := range map[string]func() error{
			"write": func() error { _, err := w.WriteFile(ctx, "m/f", nil, WriteOptions{}); return err },
			"edit":  func() error { _, err := w.Edit(ctx, "a", func(File) ([]byte, error) { return nil, nil }); return err },
			"apply": func() error { _, err := w.Apply(ctx, everything()[1:]); return err },
		} {
			if err := do(); !errors.Is(err, r.refuse) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if diff := cmp.Diff(after, snapshot(t, dir)); diff != "" {
			t.Error(diff)
		}
		if len(r.ends) != 2 {
			t.Errorf("%d ends", len(r.ends))
		}
	})
}

// TestRecorderOfLargeFiles: what exceeds the bound is told of, and not kept.
func TestRecorderOfLargeFiles(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		r := &witness{t: t, dir: filepath.Join(dir, "none")}
		if err := os.Mkdir(r.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, "big"))
		if err == nil {
			err = errors.Join(f.Truncate(MaxKept+1), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		w := open(Options{Recorder: r})
		if _, err := w.Move(context.Background(), "big", "large", MoveOptions{}); err != nil {
			t.Fatal(err)
		}
		for i, s := range []*State{r.planned[0][0].Before, r.planned[0][1].After} {
			if s.Whole || s.Data != nil || s.Size != MaxKept+1 {
				t.Errorf("state %d: whole %v, %d bytes kept of %d", i, s.Whole, len(s.Data), s.Size)
			}
		}
	})
}

// TestRecorderHearsOfARollback: done gets the error, once.
func TestRecorderHearsOfARollback(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		r := &witness{t: t, dir: dir}
		w.recorder = r
		renames := 0
		plan.fails = func(op string) error {
			if op == "rename" {
				if renames++; renames == 3 {
					return errFault
				}
			}
			return nil
		}
		_, err := w.Apply(context.Background(), []Step{write("a", "1"), rm("b"), mv("d", "k")})
		if err == nil || len(r.ends) != 1 || !errors.Is(r.ends[0], errFault) || r.ends[0] != err {
			t.Errorf("error %v, ends %v", err, r.ends)
		}
	})
}

// TestARecordedFileIsNotOverwrittenUnseen: somebody writes between what the
// recorder was given and the rename; his content must not be lost.
func TestARecordedFileIsNotOverwrittenUnseen(t *testing.T) {
	eachFaulty(t, func(t *testing.T, dir string, plan *faultPlan, w *Workspace) {
		w.recorder = &witness{t: t, dir: dir}
		plan.fails = func(op string) error {
			if op == "create" {
				return os.WriteFile(filepath.Join(dir, "a"), []byte("theirs"), 0o644)
			}
			return nil
		}
		if _, err := w.WriteFile(context.Background(), "a", []byte("mine"), WriteOptions{}); !errors.Is(err, ErrChanged) {
			t.Errorf("error %v", err)
		}
		if got := snapshot(t, dir); got["a"] != "theirs" || len(temps(t, dir)) > 0 {
			t.Errorf("got %v", got)
		}
	})
}
