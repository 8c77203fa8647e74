package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/tool"
)

var testDay = time.Date(2026, 11, 30, 23, 59, 59, 987654321, time.UTC)

var fullEvent = Event{
	Time: testDay, Session: "s1", Call: "c1", Tool: "write_file", Asked: "Write", Origin: tool.Origin{Kind: tool.OriginMCP, Name: `a "client"`, Depth: 2},
	Code: tool.CodeDenied, Reason: "a \\ line\nwith \x01 and ü\u2028", Rule: "Write(/etc/**)", ArgsSum: strings.Repeat("0a", 32),
	Result: "r_abcdefghijkm", Changed: []string{"a.go", "b/c d.go"}, Omitted: 123, Repairs: []string{"path from file_path"}, Redacted: 2,
	Duration: 1500 * time.Microsecond, Clipped: true,
}

func TestAnEventComesBackWhole(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	events := []Event{fullEvent, {Time: testDay, OK: true}, {Time: testDay, Origin: tool.Origin{Depth: 1}}}
	for _, e := range events {
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Events(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Events{Events: []Event{events[2], events[1], events[0]}}, got); diff != "" {
		t.Error(diff)
	}
}

// The line is written by hand, so it is held against the standard encoder.
func TestAppendEventWritesWhatTheTagsSay(t *testing.T) {
	for _, e := range []Event{fullEvent, {Time: testDay}, {Time: testDay, OK: true, Tool: "grep"}} {
		line := appendEvent(nil, &e)
		if !bytes.HasSuffix(line, []byte("}\n")) || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%q is not one line", line)
		}
		var want, got any
		whole, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(whole, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestALongEventIsClippedByField(t *testing.T) {
	long := strings.Repeat("\x01ü", 40_000)
	many := make([]string, 1000)
	for i := range many {
		many[i] = long
	}
	e := Event{Time: testDay, Session: long, Call: long, Tool: long, Asked: long, Origin: tool.Origin{Kind: "model", Name: long}, Code: tool.CodeFailed,
		Reason: long, Rule: long, ArgsSum: long, Result: long, Changed: many, Repairs: many, Duration: time.Second}
	line := appendEvent(nil, &e)
	if len(line) > maxLine {
		t.Errorf("the line has %d bytes", len(line))
	}
	var got Event
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	if !got.Clipped || got.Code != tool.CodeFailed || got.Duration != time.Second || len(got.Changed) == 0 || len(got.Repairs) == 0 {
		t.Errorf("it is not clipped, or a short field is lost: %+v", got)
	}
	for i := range many {
		many[i] = "a"
	}
	if line := appendEvent(nil, &Event{Changed: many}); bytes.Count(line, []byte(`"a"`)) != maxList || !bytes.Contains(line, []byte(`"clipped":true`)) {
		t.Errorf("a long list is not clipped: %s", line)
	}
}

func TestEventsFilters(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	start := testDay.Add(-36 * time.Hour)
	for i := range 500 {
		e := Event{Time: start.Add(time.Duration(i) * 10 * time.Minute), Session: fmt.Sprint("s", i%3), Tool: fmt.Sprint("t", i%5), Call: fmt.Sprint("c", i), OK: i%7 != 0}
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name        string
		filter      Filter
		n           int
		first, last string
	}{
		{"the default limit", Filter{}, 100, "c499", "c400"},
		{"a limit", Filter{Limit: 3}, 3, "c499", "c497"},
		{"all", Filter{Limit: 1000}, 500, "c499", "c0"},
		{"a session and a tool", Filter{Session: "s1", Tool: "t2", Limit: 1000}, 33, "c487", "c7"},
		{"a call", Filter{Call: "c42"}, 1, "c42", "c42"},
		{"failed", Filter{Failed: true, Limit: 2}, 2, "c497", "c490"},
		{"since", Filter{Since: start.Add(4990 * time.Minute)}, 1, "c499", "c499"},
		{"until", Filter{Until: start.Add(20 * time.Minute)}, 2, "c1", "c0"},
		{"none", Filter{Session: "s9"}, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Events(t.Context(), c.filter)
			if err != nil || len(got.Events) != c.n {
				t.Fatalf("%d events, want %d: %v", len(got.Events), c.n, err)
			}
			if c.n > 0 && (got.Events[0].Call != c.first || got.Events[c.n-1].Call != c.last) {
				t.Errorf("from %s to %s, want from %s to %s", got.Events[0].Call, got.Events[c.n-1].Call, c.first, c.last)
			}
		})
	}
	files, _ := s.events.names()
	if len(files) != 4 {
		t.Errorf("the files are %v", files)
	}
}

func TestATornEventIsPassedOverAndSaid(t *testing.T) {
	path := stateDir(t)
	s := openStore(t, path, Options{})
	if err := s.Append(Event{Time: testDay, Call: "c1"}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path, "events", "2026-11-30.0000.jsonl")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(`{"time":"2026-11-30T23:59:5`); err != nil {
		t.Fatal(err)
	}
	got, err := s.Events(t.Context(), Filter{})
	if err != nil || len(got.Events) != 1 || got.Torn != 1 {
		t.Errorf("%d events, %d torn: %v", len(got.Events), got.Torn, err)
	}
	t.Run("and does not spoil the next", func(t *testing.T) {
		s := openStore(t, path, Options{})
		if err := s.Append(Event{Time: testDay, Call: "c2"}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Events(t.Context(), Filter{})
		if err != nil || len(got.Events) != 2 || got.Torn != 1 || got.Events[0].Call != "c2" {
			t.Errorf("%d events, %d torn: %v", len(got.Events), got.Torn, err)
		}
	})
	t.Run("a hole that a crash has left", func(t *testing.T) {
		if _, err := f.Write(make([]byte, 5*block)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\n" + `{"time":"2026-11-30T23:59:59Z","call":"c3","ok":true}` + "\n"); err != nil {
			t.Fatal(err)
		}
		got, err := s.Events(t.Context(), Filter{})
		if err != nil || len(got.Events) != 3 || got.Torn < 2 || got.Events[0].Call != "c3" {
			t.Errorf("%d events, %d torn: %v", len(got.Events), got.Torn, err)
		}
	})
}

func TestTheEventLogIsBounded(t *testing.T) {
	path := stateDir(t)
	old := filepath.Join(path, "events", "2020-01-01.0000.jsonl")
	foreign := filepath.Join(path, "events", "notes.txt")
	s := openStore(t, path, Options{EventBytes: 3 * maxLogFile})
	for _, f := range []string{old, foreign} {
		if err := os.WriteFile(f, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	e := Event{Time: now, Session: "s1", Changed: []string{strings.Repeat("a", 1000), strings.Repeat("b", 1000), strings.Repeat("c", 1000)}}
	line := int64(len(appendEvent(nil, &e)))
	for range 6 * maxLogFile / line {
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Error("an old file stays")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a file that is not ours was removed")
	}
	names, err := s.events.names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(path, "events", name))
		if err != nil || info.Size() > maxLogFile+maxLogFile/16+maxLine {
			t.Errorf("%s has %d bytes: %v", name, info.Size(), err)
		}
	}
	if last := names[len(names)-1]; len(names) > 4 || fileNumber(last) < 5 {
		t.Errorf("the files are %v", names)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	s := openStore(t, stateDir(t), Options{})
	e := fullEvent
	e.Time = time.Now()
	if err := s.Append(e); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = s.Append(e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
