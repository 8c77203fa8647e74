package store

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// BenchmarkPut is what a call pays. What the store does behind its back is
// done between, off the clock.
func BenchmarkPut(b *testing.B) {
	for _, c := range []struct {
		name    string
		size    int
		durable bool
	}{
		{"2KB in the background", 2000, false},
		{"2KB durable", 2000, true},
		{"50KB in the background", 50_000, false},
		{"50KB durable", 50_000, true},
		{"10MB durable", 10 << 20, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := openStore(b, stateDir(b), Options{MaxBytes: 256 << 20})
			s.start.Do(func() { close(s.done) })
			text := []byte(strings.Repeat("a line of the result of some command\n", c.size/37+1)[:c.size])
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				copy(text, strconv.Itoa(i)) // other content each time
				e := Entry{Session: "s1", Workspace: "/w", Tool: "shell", Call: "c1", Text: string(text), Durable: c.durable}
				if i%100 == 99 {
					settleNow(b, s)
				}
				b.StartTimer()
				if _, err := s.Put(context.Background(), e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPutAndIndex is what a result costs in all, when they come without
// a pause.
func BenchmarkPutAndIndex(b *testing.B) {
	s := openStore(b, stateDir(b), Options{MaxBytes: 256 << 20})
	text := strings.Repeat("x", 2000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Put(context.Background(), Entry{Session: "s1", Workspace: "/w", Tool: "shell", Call: "c1", Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := openStore(b, stateDir(b), Options{})
	s.start.Do(func() { close(s.done) })
	indexed := put(b, s, Entry{Text: strings.Repeat("x", 2000), Durable: true})
	for range 1000 {
		put(b, s, Entry{Text: strings.Repeat("x", 2000), Durable: true})
	}
	settleNow(b, s)
	fresh := put(b, s, Entry{Text: strings.Repeat("x", 2000), Durable: true})
	other := openStore(b, s.dir.Path(), Options{})
	for _, c := range []struct {
		name string
		from *Store
		id   string
	}{{"own and fresh", s, fresh}, {"from another's journal", other, fresh}, {"from the index", s, indexed}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.from.Get(context.Background(), c.id, own); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOneCall is what a command that runs one call pays: open, keep a
// result, record an event, close.
func BenchmarkOneCall(b *testing.B) {
	path := stateDir(b)
	text := strings.Repeat("x", 2000)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Put(context.Background(), Entry{Session: "s1", Text: text}); err != nil {
			b.Fatal(err)
		}
		if err := s.Append(Event{Session: "s1", Tool: "shell"}); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := stateDir(b)
	openStore(b, path, Options{})
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstIndex is the first use of the database, with its tables.
func BenchmarkFirstIndex(b *testing.B) {
	base := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		path, err := os.MkdirTemp(base, "state")
		if err != nil {
			b.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Put(context.Background(), Entry{Session: "s1", Text: "x", Durable: true}); err != nil {
			b.Fatal(err)
		}
		if err := s.settle(context.Background()); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	s := openStore(b, stateDir(b), Options{})
	e := Event{
		Session: "s_k3m9x2pq7abc", Call: "toolu_01A09q90qw90lq917835lq9", Tool: "write_file", Asked: "Write", Origin: tool.Origin{Kind: tool.OriginModel}, OK: true,
		ArgsSum: strings.Repeat("0a", 32), Result: "r_k3m9x2pq7abc", Changed: []string{"internal/store/event.go"}, Duration: 1500 * time.Microsecond, Time: time.Now(),
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvents(b *testing.B) {
	s := openStore(b, stateDir(b), Options{})
	for range 10_000 {
		if err := s.Append(Event{Session: "s1", Tool: "grep", OK: true, ArgsSum: strings.Repeat("0a", 32)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := s.Events(context.Background(), Filter{}); err != nil || len(got.Events) != DefaultEventLimit {
			b.Fatal(len(got.Events), err)
		}
	}
}
