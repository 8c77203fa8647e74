package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// settleNow settles although the store was tended just before.
func settleNow(t testing.TB, s *Store) {
	t.Helper()
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	s.settling.Lock() // the goroutine may be about to note that it has tended
	s.mu.Lock()
	s.tended = time.Time{}
	s.mu.Unlock()
	s.settling.Unlock()
	if err := s.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// kept reports which of the results are still there.
func kept(t testing.TB, s *Store, ids []string) (n int, oldest bool) {
	t.Helper()
	for i, id := range ids {
		if _, err := s.Get(t.Context(), id, own); err == nil {
			n++
			oldest = oldest || i == 0
		} else if !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	}
	return n, oldest
}

func TestTheOldestResultsGoFirst(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name string
		opts Options
		want int
	}{
		{"age", Options{MaxAge: 95 * time.Minute}, 95},
		{"entries", Options{MaxEntries: 40}, 40},
		{"bytes", Options{MaxBytes: 70 * 1000}, 70},
		{"nothing", Options{}, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, stateDir(t), c.opts)
			var ids []string
			for i := range 300 {
				ids = append(ids, put(t, s, Entry{Text: strings.Repeat("x", 1000), Created: now.Add(time.Duration(i-299) * time.Minute)}))
			}
			settleNow(t, s)
			n, oldest := kept(t, s, ids)
			if n != c.want || oldest != (c.want == 300) {
				t.Errorf("%d results are left, want %d; the oldest: %v", n, c.want, oldest)
			}
			if _, err := s.Get(t.Context(), ids[299], own); err != nil {
				t.Errorf("the newest is gone: %v", err)
			}
			checkTotals(t, s, int64(c.want))
		})
	}
}

// age makes all content look as if it was written long ago.
func ageBlobs(t testing.TB, path string) {
	t.Helper()
	old := time.Now().Add(-2 * grace)
	for _, f := range blobFiles(t, path) {
		if err := os.Chtimes(f, old, old); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}

// sweepAll looks through all directories of blobs.
func sweepAll(t testing.TB, s *Store) {
	t.Helper()
	db, err := s.index.open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for range 256 {
		if err := s.sweep(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
}

func TestContentGoesWithItsLastResult(t *testing.T) {
	path := stateDir(t)
	s := openStore(t, path, Options{MaxAge: time.Hour})
	shared, single := strings.Repeat("shared", inline), strings.Repeat("single", inline)
	old := time.Now().Add(-2 * time.Hour)
	put(t, s, Entry{Text: shared, Created: old})
	put(t, s, Entry{Text: single, Created: old})
	id := put(t, s, Entry{Text: shared})
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	ageBlobs(t, path)
	settleNow(t, s)
	if files := blobFiles(t, path); len(files) != 1 || !strings.HasSuffix(files[0], sumOf(shared)) {
		t.Errorf("left are %v", files)
	}
	if text(t, s, id, own) != shared {
		t.Error("shared content was removed")
	}
}

func TestL54_ContentOnItsWayIsNotRemoved(t *testing.T) {
	big := strings.Repeat("x", inline+1)
	t.Run("fresh content without a result", func(t *testing.T) {
		path := stateDir(t)
		s := openStore(t, path, Options{})
		if _, err := s.blobs.put(big); err != nil {
			t.Fatal(err)
		}
		sweepAll(t, s)
		if len(blobFiles(t, path)) != 1 {
			t.Error("removed before its result was written")
		}
		ageBlobs(t, path)
		sweepAll(t, s)
		if files := blobFiles(t, path); len(files) != 0 {
			t.Errorf("an orphan stays for ever: %v", files)
		}
	})
	t.Run("old content that is put again", func(t *testing.T) {
		path := stateDir(t)
		s := openStore(t, path, Options{})
		if _, err := s.blobs.put(big); err != nil {
			t.Fatal(err)
		}
		ageBlobs(t, path)
		if _, err := s.blobs.put(big); err != nil { // by a process that now writes its record
			t.Fatal(err)
		}
		sweepAll(t, s)
		if len(blobFiles(t, path)) != 1 {
			t.Error("removed under the hands of who relies on it")
		}
	})
	t.Run("old content of a result in the journal of another process", func(t *testing.T) {
		path := stateDir(t)
		other, s := openStore(t, path, Options{}), openStore(t, path, Options{})
		id := put(t, other, Entry{Text: big, Durable: true})
		ageBlobs(t, path)
		sweepAll(t, s)
		if text(t, s, id, own) != big {
			t.Error("removed")
		}
	})
	t.Run("what a crash has left half written", func(t *testing.T) {
		path := stateDir(t)
		s := openStore(t, path, Options{})
		if _, err := s.blobs.put(big); err != nil {
			t.Fatal(err)
		}
		whole := blobFiles(t, path)[0]
		if err := os.Rename(whole, whole+halfMark+newID()); err != nil {
			t.Fatal(err)
		}
		sweepAll(t, s)
		if len(blobFiles(t, path)) != 1 {
			t.Error("removed while it may be being written")
		}
		ageBlobs(t, path)
		sweepAll(t, s)
		if files := blobFiles(t, path); len(files) != 0 {
			t.Errorf("a half stays for ever: %v", files)
		}
	})
	t.Run("old content is removed while it is put again", func(t *testing.T) {
		path := stateDir(t)
		s, other := openStore(t, path, Options{}), openStore(t, path, Options{})
		db, err := other.index.open(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		removed := 0
		for i := range 300 {
			body := strings.Repeat("x", inline+i+1)
			sum, err := s.blobs.put(body)
			if err != nil {
				t.Fatal(err)
			}
			old := time.Now().Add(-2 * grace)
			at := filepath.Join(path, "blobs", sum[:2], sum)
			if err := os.Chtimes(at, old, old); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := other.removeBlobs(t.Context(), db, []string{sum}); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(at); err != nil {
					removed++
				}
			})
			id := put(t, s, Entry{Text: body, Durable: true})
			wg.Wait()
			if text(t, s, id, own) != body {
				t.Fatal("the content was removed under the hands of who relies on it")
			}
		}
		t.Logf("%d of 300 were removed before they were put", removed)
	})
}
