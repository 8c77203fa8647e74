package history

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// BenchmarkRecord is what recording adds to one edit of a file.
func BenchmarkRecord(b *testing.B) {
	for _, size := range []int{4 << 10, 100 << 10, 10 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			x := newBench(b, Options{}, nil)
			text := []byte(strings.Repeat("some line of the text\n", size/22+1)[:size])
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				next := bytes.Clone(text)
				copy(next[size/2:], fmt.Sprintf("%012d", i))
				done, err := x.line.Begin(callNamed(fmt.Sprint(i)), []workspace.Planned{{Rel: "f",
					Before: &workspace.State{Mode: 0o644, Size: int64(size), Data: text, Whole: true},
					After:  &workspace.State{Mode: 0o644, Size: int64(size), Data: next, Whole: true}}})
				if err != nil {
					b.Fatal(err)
				}
				done(nil)
				text = next
			}
		})
	}
}

// BenchmarkThousandEdits is an edit of a 4 KB file after so many others: it
// costs no more than the first.
func BenchmarkThousandEdits(b *testing.B) {
	for _, before := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprint("after", before), func(b *testing.B) {
			x := newBench(b, Options{}, map[string]string{"f": strings.Repeat("line\n", 800)})
			i := 0
			edit := func() {
				i++
				_, err := x.w.Edit(callNamed(fmt.Sprint(i)), "f", func(old workspace.File) ([]byte, error) {
					return append(fmt.Appendf(old.Data[:2000:2000], "%08d\n", i), old.Data[2009:]...), nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			for range before {
				edit()
			}
			b.ReportAllocs()
			for b.Loop() {
				edit()
			}
		})
	}
}

// BenchmarkList is the first question of a process to a history of 10,000
// changes, and a later one.
func BenchmarkList(b *testing.B) {
	x := newBench(b, Options{}, nil)
	for i := range 10_000 {
		done, err := x.line.Begin(callNamed(fmt.Sprint(i)), []workspace.Planned{{Rel: "f", Before: stateOfText(fmt.Sprint(i)), After: stateOfText(fmt.Sprint(i + 1))}})
		if err != nil {
			b.Fatal(err)
		}
		done(nil)
	}
	for _, fresh := range []bool{true, false} {
		b.Run(fmt.Sprint("fresh=", fresh), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if fresh {
					x.reopen(Options{})
				}
				if l, err := x.line.List(context.Background(), Filter{}); err != nil || len(l.Changes) != 20 {
					b.Fatal(err)
				}
			}
		})
	}
}
