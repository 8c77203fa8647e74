package workspace

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// benchEngines runs a benchmark over a fresh folder for both engines.
func benchEngines(b *testing.B, files map[string][]byte, fn func(b *testing.B, w *Workspace)) {
	for name, engine := range engines {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			for file, data := range files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			w, err := open(dir, Options{}, engine)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			b.ReportAllocs()
			fn(b, w)
		})
	}
}

func benchRead(b *testing.B, size int) {
	data := bytes.Repeat([]byte("a line of text\n"), size/15+1)[:size]
	benchEngines(b, map[string][]byte{"a/b/c/d/f": data}, func(b *testing.B, w *Workspace) {
		ctx := context.Background()
		b.SetBytes(int64(size))
		for b.Loop() {
			if _, err := w.ReadFile(ctx, "a/b/c/d/f", 1<<30); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead4KiB(b *testing.B) { benchRead(b, 4<<10) }
func BenchmarkRead1MiB(b *testing.B) { benchRead(b, 1<<20) }

func BenchmarkResolve(b *testing.B) {
	benchEngines(b, map[string][]byte{"a/b/c/d/f": nil}, func(b *testing.B, w *Workspace) {
		for b.Loop() {
			if _, err := w.Resolve("a/b/c/d/f"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWrite4KiB(b *testing.B) {
	data := bytes.Repeat([]byte("x"), 4<<10)
	benchEngines(b, map[string][]byte{"a/b/f": nil}, func(b *testing.B, w *Workspace) {
		ctx := context.Background()
		for b.Loop() {
			if _, err := w.WriteFile(ctx, "a/b/f", data, WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSync is what flushing alone costs on this disk, to read the
// figures of writing by.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	data := bytes.Repeat([]byte("x"), 4<<10)
	for b.Loop() {
		if _, err := f.WriteAt(data, 0); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEdit1MB(b *testing.B) {
	data := bytes.Repeat([]byte("a line of text\n"), 1_000_000/15)
	benchEngines(b, map[string][]byte{"f": data}, func(b *testing.B, w *Workspace) {
		ctx := context.Background()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			_, err := w.Edit(ctx, "f", func(old File) ([]byte, error) {
				old.Data[0] ^= 1
				return bytes.Clone(old.Data), nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkUnreadable(b *testing.B) {
	w, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		if w.Unreadable("internal/workspace/some_file.go") {
			b.Fatal("a plain file is unreadable")
		}
	}
}

// BenchmarkApply10 writes ten files of three folders as one change. Nine of
// them get a further name for the time being.
func BenchmarkApply10(b *testing.B) {
	files := map[string][]byte{}
	var steps []Step
	for i := range 10 {
		name := fmt.Sprintf("%c/f%d", 'a'+i%3, i)
		files[name] = bytes.Repeat([]byte("x"), 4<<10)
		steps = append(steps, Step{Op: OpWrite, Name: name, Data: files[name]})
	}
	benchEngines(b, files, func(b *testing.B, w *Workspace) {
		for b.Loop() {
			if _, err := w.Apply(context.Background(), steps); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMove(b *testing.B) {
	benchEngines(b, map[string][]byte{"a/f": nil, "b/g": nil}, func(b *testing.B, w *Workspace) {
		from, to := "a/f", "b/f"
		for b.Loop() {
			if _, err := w.Move(context.Background(), from, to, MoveOptions{}); err != nil {
				b.Fatal(err)
			}
			from, to = to, from
		}
	})
}
