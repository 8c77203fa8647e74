package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// runRole is what this binary does when a test has started it as another
// process of the same state directory.
func runRole(role string) int {
	s, err := Open(os.Getenv("HANDRAIL_STORE_TEST_DIR"), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch role {
	case "put":
		err = putMany(s, 300)
	case "endless":
		err = putMany(s, 1<<30)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// putMany puts n results and prints the id and the text of each that is
// durable, and records an event for it.
func putMany(s *Store, n int) error {
	for i := range n {
		body := fmt.Sprintf("%d-%d-", os.Getpid(), i)
		if i%10 == 0 {
			body += strings.Repeat("x", inline) // some of the same content, some large
		}
		e := Entry{Session: "s1", Workspace: "/w", Text: body, Durable: i%2 == 0}
		id, err := s.Put(context.Background(), e)
		if err != nil {
			return err
		}
		if err := s.Append(Event{Session: "s1", Result: id}); err != nil {
			return err
		}
		if e.Durable || n < 1<<30 { // the others are kept by Close only
			fmt.Println(id, len(body), body[:strings.LastIndexByte(body, '-')+1])
		}
		if i%50 == 49 {
			if err := s.settle(context.Background()); err != nil {
				return err
			}
		}
	}
	return nil
}

type child struct {
	*exec.Cmd
	out *bufio.Scanner
}

func startRole(t *testing.T, role, path string) child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "HANDRAIL_STORE_TEST_ROLE="+role, "HANDRAIL_STORE_TEST_DIR="+path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return child{cmd, bufio.NewScanner(pipe)}
}

// checkKept checks a line that a child has printed.
func checkKept(t *testing.T, s *Store, line string) {
	t.Helper()
	var id, start string
	var size int
	if _, err := fmt.Sscan(line, &id, &size, &start); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if got := text(t, s, id, Scope{Workspace: "/w"}); len(got) != size || !strings.HasPrefix(got, start) {
		t.Errorf("%s holds %d bytes of %d", id, len(got), size)
	}
}

func TestSeveralProcessesLoseNothing(t *testing.T) {
	path := stateDir(t)
	var children []child
	for range 4 {
		children = append(children, startRole(t, "put", path))
	}
	var kept []string
	for _, c := range children {
		for c.out.Scan() {
			kept = append(kept, c.out.Text())
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if len(kept) != 4*300 {
		t.Errorf("%d results were kept", len(kept))
	}
	s := openStore(t, path, Options{})
	for _, line := range kept {
		checkKept(t, s, line)
	}
	if err := s.adoptAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkTotals(t, s, 1200)
	events, err := s.Events(t.Context(), Filter{Limit: 10_000})
	if err != nil || len(events.Events) != 1200 || events.Torn != 0 {
		t.Errorf("%d events and %d torn: %v", len(events.Events), events.Torn, err)
	}
}

// checkTotals checks the sums that retention goes by against the rows.
func checkTotals(t *testing.T, s *Store, want int64) {
	t.Helper()
	db, err := s.index.open(t.Context(), false)
	if err != nil || db == nil {
		t.Fatal(db, err)
	}
	var entries, bytes, rows, sum int64
	if err := db.QueryRow("SELECT entries, bytes FROM totals").Scan(&entries, &bytes); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow("SELECT count(*), coalesce(sum(size), 0) FROM entries").Scan(&rows, &sum); err != nil {
		t.Fatal(err)
	}
	if entries != want || rows != want || bytes != sum {
		t.Errorf("the totals say %d results of %d bytes, the rows %d of %d, and %d were put", entries, bytes, rows, sum, want)
	}
}

func TestAKillLosesNothingThatWasDurable(t *testing.T) {
	path := stateDir(t)
	for round := range 3 {
		c := startRole(t, "endless", path)
		var kept []string
		deadline := time.Now().Add(20 * time.Second)
		for len(kept) < 60+40*round && time.Now().Before(deadline) && c.out.Scan() {
			kept = append(kept, c.out.Text())
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for c.out.Scan() { // what it has said before it died
			kept = append(kept, c.out.Text())
		}
		if err := c.Wait(); err == nil {
			t.Error("it was not killed")
		}
		s := openStore(t, path, Options{})
		for _, line := range kept {
			checkKept(t, s, line)
		}
		if err := s.settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, line := range kept {
			checkKept(t, s, line)
		}
		events, err := s.Events(t.Context(), Filter{Limit: 100_000})
		if err != nil || events.Torn != 0 || len(events.Events) < len(kept) {
			t.Errorf("%d events and %d torn for %d results: %v", len(events.Events), events.Torn, len(kept), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
