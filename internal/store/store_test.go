package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/handrail-tools/handrail/tool"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("HANDRAIL_STORE_TEST_ROLE"); role != "" {
		os.Exit(runRole(role))
	}
	goleak.VerifyTestMain(m)
}

// stateDir returns the path of a state directory that is not there yet.
func stateDir(t testing.TB) string { return filepath.Join(t.TempDir(), "state") }

func openStore(t testing.TB, path string, opts Options) *Store {
	t.Helper()
	s, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func put(t testing.TB, s *Store, e Entry) string {
	t.Helper()
	if e.Session == "" {
		e.Session = "s1"
	}
	id, err := s.Put(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// text returns the whole text of a result, or fails.
func text(t testing.TB, s *Store, id string, scope Scope) string {
	t.Helper()
	r, err := s.Get(t.Context(), id, scope)
	if err != nil {
		t.Fatalf("getting %s: %v", id, err)
	}
	c, err := r.Text()
	if err != nil {
		t.Fatalf("opening %s: %v", id, err)
	}
	defer func() { _ = c.Close() }()
	got, err := c.Window(0, c.Size)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var own = Scope{Session: "s1"}

// The sizes of text at which something else happens.
var sizes = map[string]int{"empty": 0, "small": 100, "the largest in the record": inline, "the smallest blob": inline + 1, "large": 3 << 20}

func TestAResultComesBackWhole(t *testing.T) {
	for name, size := range sizes {
		for _, durable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s durable=%v", name, durable), func(t *testing.T) {
				path := stateDir(t)
				s := openStore(t, path, Options{})
				entry := Entry{
					Session: "s1", Workspace: "/w", Tool: "shell", Call: "c1", Verbatim: true, Durable: durable,
					Text:     strings.Repeat("a \xff\x00\u202e line\n", size/13+1)[:size],
					Media:    []tool.Media{{MIME: "image/png", Data: []byte("tiny")}, {MIME: "image/gif", Data: []byte(strings.Repeat("big", 9000))}},
					Metadata: []byte(`{"exit":1}`), Created: time.Unix(1_800_000_000, 5),
				}
				id := put(t, s, entry)
				check := func(where string, s *Store) {
					t.Helper()
					r, err := s.Get(t.Context(), id, own)
					if err != nil {
						t.Fatalf("%s: %v", where, err)
					}
					if got := text(t, s, id, own); got != entry.Text {
						t.Errorf("%s: the text has %d bytes and differs", where, len(got))
					}
					for i, want := range entry.Media {
						if got, err := r.ReadMedia(i); err != nil || !cmp.Equal(got, want) {
							t.Errorf("%s: medium %d: %v", where, i, err)
						}
					}
					want := &Record{ID: id, Session: "s1", Workspace: "/w", Tool: "shell", Call: "c1", Created: entry.Created, Verbatim: true,
						Size: int64(size), Lines: countLines(entry.Text), Metadata: entry.Metadata,
						Media: []MediaInfo{{"image/png", 4}, {"image/gif", 27000}}}
					r.store, r.parts = nil, nil
					if diff := cmp.Diff(want, r, cmp.AllowUnexported(Record{})); diff != "" {
						t.Errorf("%s: %s", where, diff)
					}
				}
				check("at once", s)
				if err := s.flush(); err != nil {
					t.Fatal(err)
				}
				check("from the journal", openStore(t, path, Options{}))
				if err := s.settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				check("from the index", s)
				check("from the index of another", openStore(t, path, Options{}))
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				check("after the end", openStore(t, path, Options{}))
			})
		}
	}
}

func TestGetStaysWithinItsScope(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	id := put(t, s, Entry{Session: "s1", Workspace: "/w", Text: "mine"})
	gone := idPrefix + strings.Repeat("a", idLength)
	for _, c := range []struct {
		name  string
		id    string
		scope Scope
		found bool
	}{
		{"own session", id, Scope{Session: "s1"}, true},
		{"own workspace", id, Scope{Workspace: "/w"}, true},
		{"both", id, Scope{Session: "s1", Workspace: "/w"}, true},
		{"another session", id, Scope{Session: "s2"}, false},
		{"another session of the workspace", id, Scope{Session: "s2", Workspace: "/w"}, false},
		{"another workspace", id, Scope{Workspace: "/w2"}, false},
		{"a workspace above", id, Scope{Workspace: "/"}, false},
		{"own session in another workspace", id, Scope{Session: "s1", Workspace: "/w2"}, false},
		{"no scope", id, Scope{}, false},
		{"an id that was never given", gone, Scope{Session: "s1"}, false},
		{"no id", "", Scope{Session: "s1"}, false},
		{"a path for an id", "../../etc/passwd", Scope{Session: "s1"}, false},
		{"a pattern for an id", "r_%", Scope{Session: "s1"}, false},
	} {
		for _, settled := range []string{"pending", "indexed"} {
			t.Run(c.name+" "+settled, func(t *testing.T) {
				_, err := s.Get(t.Context(), c.id, c.scope)
				if c.found && err != nil {
					t.Error(err)
				}
				// A stranger must not learn that there is such a result.
				if !c.found && (err != ErrNotFound || err.Error() != "no such result") { //nolint:errorlint // the very same error
					t.Errorf("the answer is %v", err)
				}
				if err := s.settle(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	t.Run("bound scopes are tried in turn", func(t *testing.T) {
		parent := put(t, s, Entry{Session: "parent", Text: "p"})
		r := s.Bind(Scope{Session: "s1"}, Scope{Session: "parent"})
		for _, id := range []string{id, parent} {
			if _, err := r.Result(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		other := put(t, s, Entry{Session: "other", Text: "o"})
		if _, err := r.Result(t.Context(), other); err != ErrNotFound { //nolint:errorlint // the very same error
			t.Errorf("the answer is %v", err)
		}
		if _, err := s.Bind().Result(t.Context(), id); err != ErrNotFound { //nolint:errorlint // the very same error
			t.Errorf("without a scope the answer is %v", err)
		}
	})
}

func TestL43_AResultOfNobodyIsRefused(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	for name, e := range map[string]Entry{
		"no session":     {Text: "x"},
		"metadata":       {Session: "s", Metadata: []byte("{")},
		"large metadata": {Session: "s", Metadata: []byte(`"` + strings.Repeat("x", MaxMetadata) + `"`)},
	} {
		if id, err := s.Put(t.Context(), e); err == nil || id != "" {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}

func TestIDsCannotBeGuessed(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		id := newID()
		if !IsID(id) || seen[id] {
			t.Fatalf("%q is no id, or not the first", id)
		}
		seen[id] = true
	}
	for _, s := range []string{"", "r_", "r_short", "r_ABCDEFGHIJKL", "r_aaaaaaaaaaa1", "x_aaaaaaaaaaaa", "r_aaaaaaaaaaaaa", "r_aaaaaa/aaaaa"} {
		if IsID(s) {
			t.Errorf("%q counts as an id", s)
		}
	}
}

func TestSameContentIsStoredOnce(t *testing.T) {
	path := stateDir(t)
	s := openStore(t, path, Options{})
	big := strings.Repeat("0123456789", 5000)
	first, second := put(t, s, Entry{Text: big, Durable: true}), put(t, s, Entry{Text: big, Durable: true})
	if first == second {
		t.Error("two results have one id")
	}
	if files := blobFiles(t, path); len(files) != 1 {
		t.Errorf("the content is stored in %v", files)
	}
	t.Run("and damaged content is replaced", func(t *testing.T) {
		if err := os.WriteFile(blobFiles(t, path)[0], []byte(strings.Repeat("x", len(big))), 0o600); err != nil {
			t.Fatal(err)
		}
		if id := put(t, s, Entry{Text: big, Durable: true}); text(t, s, id, own) != big {
			t.Error("damaged content was trusted")
		}
	})
	t.Run("and content of another size is not shown", func(t *testing.T) {
		if err := os.Truncate(blobFiles(t, path)[0], 10); err != nil {
			t.Fatal(err)
		}
		r, err := s.Get(t.Context(), first, own)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Text(); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("the answer is %v", err)
		}
	})
}

func blobFiles(t testing.TB, path string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "blobs", "??", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestOpenCostsNoDatabase(t *testing.T) {
	path := stateDir(t)
	s := openStore(t, path, Options{})
	id := put(t, s, Entry{Text: "one call"})
	if text(t, s, id, own) != "one call" {
		t.Error("not visible at once")
	}
	if err := s.Append(Event{Session: "s1"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, indexName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a short command has made a database: %v", err)
	}
	t.Run("and neither does reading it", func(t *testing.T) {
		s := openStore(t, path, Options{})
		if text(t, s, id, own) != "one call" || s.index.isOpen() {
			t.Error("not read from the journal")
		}
	})
	t.Run("but many short commands do not pile up", func(t *testing.T) {
		for range 8 {
			s := openStore(t, path, Options{})
			for range 4 {
				put(t, s, Entry{Text: strings.Repeat("x", 10_000)})
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var size int64
		files, _ := filepath.Glob(filepath.Join(path, "journal", "*"))
		for _, f := range files {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if len(files) != 1 || size >= closingSize {
			t.Errorf("%d journals have %d bytes", len(files), size)
		}
		if text(t, openStore(t, path, Options{}), id, own) != "one call" {
			t.Error("lost on the way to the index")
		}
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	s.start.Do(func() { close(s.done) }) // nobody empties the queue
	for range maxQueue + 10 {
		put(t, s, Entry{Text: "x"})
	}
	put(t, s, Entry{Text: strings.Repeat("x", maxQueueBytes+1)})
	if len(s.queue) != maxQueue {
		t.Errorf("%d results wait", len(s.queue))
	}
	if len(s.own.journal.own) != 11 {
		t.Errorf("%d results were written by their callers", len(s.own.journal.own))
	}
}

func TestWhatIsIndexedLeavesTheMemory(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	for range 3 * fullRecords {
		put(t, s, Entry{Text: "x"})
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	if err := s.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) != 0 || len(s.queue) != 0 {
		t.Errorf("%d results are still pending and %d wait", len(s.pending), len(s.queue))
	}
}

func TestCloseIsFinal(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	id := put(t, s, Entry{Text: strings.Repeat("x", inline+1)})
	r, err := s.Get(t.Context(), id, own)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, putErr := s.Put(t.Context(), Entry{Session: "s"})
	_, getErr := s.Get(t.Context(), id, own)
	_, textErr := r.Text()
	_, eventsErr := s.Events(t.Context(), Filter{})
	for i, err := range []error{putErr, getErr, textErr, eventsErr, s.Append(Event{}), s.Close()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("use %d after Close: %v", i, err)
		}
	}
}

func TestAnIndexOfALaterVersionIsRefused(t *testing.T) {
	path := stateDir(t)
	s := openStore(t, path, Options{})
	id := put(t, s, Entry{Text: "x", Durable: true})
	db, err := s.index.open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path, Options{})
	put(t, s, Entry{Text: "y", Durable: true})
	if err := s.settle(t.Context()); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("the answer is %v", err)
	}
	if id2 := put(t, s, Entry{Text: "z", Durable: true}); text(t, s, id2, own) != "z" {
		t.Error("a result cannot be kept without the index")
	}
	if _, err := s.Get(t.Context(), id, own); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a result that may be there counts as gone: %v", err)
	}
}

func TestTornLinesArePassedOver(t *testing.T) {
	path := stateDir(t)
	s := openStore(t, path, Options{})
	first := put(t, s, Entry{Text: "first", Durable: true})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(path, "journal", "0"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, `{"id":"r_half`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	s = openStore(t, path, Options{})
	second := put(t, s, Entry{Text: "second", Durable: true})
	for range 2 {
		if text(t, s, first, own) != "first" || text(t, s, second, own) != "second" {
			t.Error("a torn line has spoilt its neighbours")
		}
		if err := s.settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
