//go:build unix

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestF196_OnlyTheOwnerCanLookIntoTheStateDirectory(t *testing.T) {
	for _, umask := range []int{0o022, 0o000, 0o777 &^ 0o700} {
		t.Run(strconv.FormatInt(int64(umask), 8), func(t *testing.T) {
			base := t.TempDir()
			if err := os.Chmod(base, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(base, "deep", "state")
			defer unix.Umask(unix.Umask(umask))
			s := openStore(t, path, Options{})
			put(t, s, Entry{Text: strings.Repeat("x", inline+1), Durable: true})
			put(t, s, Entry{Text: "x", Durable: true})
			if err := s.Append(Event{}); err != nil {
				t.Fatal(err)
			}
			if err := s.settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			put(t, s, Entry{Text: "x", Durable: true})
			files := 0
			err := filepath.WalkDir(filepath.Dir(path), func(p string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				if info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has mode %v", p, info.Mode())
				}
				if !d.IsDir() {
					files++
				}
				return nil
			})
			if err != nil || files < 6 {
				t.Errorf("%d files: %v", files, err)
			}
		})
	}
	t.Run("rights that others have are taken away", func(t *testing.T) {
		path := stateDir(t)
		if err := os.MkdirAll(filepath.Join(path, "journal"), 0o777); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]os.FileMode{"": 0o777, "journal": 0o755} {
			if err := os.Chmod(filepath.Join(path, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(path, "journal", "0"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		put(t, openStore(t, path, Options{}), Entry{Text: "x", Durable: true})
		for name, want := range map[string]os.FileMode{"": 0o700, "journal": 0o700, "journal/0": 0o600} {
			info, err := os.Stat(filepath.Join(path, name))
			if err != nil || info.Mode().Perm() != want {
				t.Errorf("%q has mode %v: %v", name, info.Mode(), err)
			}
		}
	})
}

func TestOpenRefusesADirectoryThatIsNotSafe(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string) error
		want string
	}{
		{"a link", func(t *testing.T, path string) error { return os.Symlink(t.TempDir(), path) }, "is a symbolic link"},
		{"a dangling link", func(_ *testing.T, path string) error { return os.Symlink("nowhere", path) }, "is a symbolic link"},
		{"a file", func(_ *testing.T, path string) error { return os.WriteFile(path, nil, 0o600) }, "not a directory"},
		{"a link inside", func(t *testing.T, path string) error {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Symlink(t.TempDir(), filepath.Join(path, "blobs"))
		}, "is a symbolic link"},
		{"a parent that all can write to", func(_ *testing.T, path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, "can be written to by others"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			if err := c.make(t, path); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the answer is %v", err)
			}
		})
	}
	t.Run("but one with a sticky bit is fine", func(t *testing.T) {
		parent := t.TempDir()
		if err := os.Chmod(parent, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
		openStore(t, filepath.Join(parent, "state"), Options{})
	})
}

func TestOpenRefusesWhatBelongsToAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	const nobody = 65534
	for _, name := range []string{".", "state", "state/journal"} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			if err := os.MkdirAll(filepath.Join(base, "state", "journal"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(filepath.Join(base, name), nobody, nobody); err != nil {
				t.Fatal(err)
			}
			s, err := Open(filepath.Join(base, "state"), Options{})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), "belongs to user 65534") {
				t.Errorf("the answer is %v", err)
			}
		})
	}
	t.Run("a file inside", func(t *testing.T) {
		path := stateDir(t)
		s := openStore(t, path, Options{})
		if err := os.WriteFile(filepath.Join(path, "journal", "0"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(path, "journal", "0"), nobody, nobody); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), Entry{Session: "s1", Durable: true}); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("the answer is %v", err)
		}
	})
}

func TestF197_PlantedFilesAreNotWrittenThrough(t *testing.T) {
	big := strings.Repeat("x", inline+1)
	for _, c := range []struct{ name, at string }{
		{"the journal", "journal/0"},
		{"the event log", "events/" + testDay.UTC().Format(dayFormat) + ".0000.jsonl"},
		{"the index", indexName},
		{"the index's log", indexName + "-wal"},
		{"content", "blobs/" + sumOf(big)[:2] + "/" + sumOf(big)},
	} {
		for _, kind := range []string{"link", "fifo"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				path := stateDir(t)
				victim := filepath.Join(t.TempDir(), "victim")
				if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
				s := openStore(t, path, Options{})
				if err := os.MkdirAll(filepath.Dir(filepath.Join(path, c.at)), 0o700); err != nil {
					t.Fatal(err)
				}
				if c.at == indexName+"-wal" {
					if err := os.WriteFile(filepath.Join(path, indexName), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				plant := func() error { return os.Symlink(victim, filepath.Join(path, c.at)) }
				if kind == "fifo" {
					plant = func() error { return unix.Mkfifo(filepath.Join(path, c.at), 0o600) }
				}
				if err := plant(); err != nil {
					t.Fatal(err)
				}
				_, putErr := s.Put(t.Context(), Entry{Session: "s1", Text: big, Durable: true})
				appendErr := s.Append(Event{Time: testDay})
				settleErr := s.settle(t.Context())
				if putErr == nil && appendErr == nil && settleErr == nil {
					t.Error("nothing was refused")
				}
				if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
					t.Errorf("the victim holds %q: %v", got, err)
				}
				if err := os.Remove(filepath.Join(path, c.at)); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	t.Run("a planted content is not believed", func(t *testing.T) {
		path := stateDir(t)
		s := openStore(t, path, Options{})
		at := filepath.Join(path, "blobs", sumOf(big)[:2], sumOf(big))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(strings.Repeat("y", len(big))), 0o600); err != nil {
			t.Fatal(err)
		}
		if id := put(t, s, Entry{Text: big}); text(t, s, id, own) != big {
			t.Error("another content is shown")
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(at); err != nil || string(got) != big {
			t.Errorf("the planted content stayed: %v", err)
		}
	})
}

func TestAStateDirectoryWithAnOddName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a ?x=1&#%41 ü")
	s := openStore(t, path, Options{})
	id := put(t, s, Entry{Text: "x", Durable: true})
	if err := s.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text(t, s, id, own) != "x" {
		t.Error("lost")
	}
	if _, err := os.Stat(filepath.Join(path, indexName)); err != nil {
		t.Error(err)
	}
}
