package workspace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestViewsGrow(t *testing.T) {
	v := newViews()
	text := "0123456789"
	one, two := Version{Inode: 1, Size: 10}, Version{Inode: 2, Size: 10}
	see := func(version Version, from, to int64) View {
		v.Saw("f", View{Version: version, Sum: SumOf([]byte(text)), Total: 10, Spans: []Span{{from, to}}}, text)
		got, known, _ := v.Of("f")
		if !known {
			t.Fatal("not recorded")
		}
		return got
	}
	if got := see(one, 5, 8); got.Complete() || got.Seen() != 3 {
		t.Errorf("%+v", got)
	}
	if got := see(one, 0, 2); got.Seen() != 5 || len(got.Spans) != 2 {
		t.Errorf("%+v", got)
	}
	if got := see(two, 2, 5); got.Seen() != 8 || len(got.Spans) != 1 || got.Version != two {
		t.Errorf("the same bytes under another version: %+v", got)
	}
	if got := see(two, 7, 10); !got.Complete() {
		t.Errorf("%+v", got)
	}
	text = "9876543210"
	if got := see(Version{Inode: 3, Size: 10}, 0, 1); got.Seen() != 1 {
		t.Errorf("other bytes: %+v", got)
	}
	if _, known, unsure := v.Of("g"); known || unsure {
		t.Error("a file that was never seen is known")
	}
	empty := View{}
	if !empty.Complete() {
		t.Error("an empty file is not complete")
	}
}

// TestL40_ForgettingRefuses: when the record is full the oldest goes, and
// from then on nothing counts as never seen.
func TestL40_ForgettingRefuses(t *testing.T) {
	v := newViews()
	for i := range maxViews + 1 {
		v.Wrote(fmt.Sprint("f", i), Version{}, Sum{}, strings.Repeat("line\n", 400))
	}
	if len(v.views) != maxViews || len(v.order) != maxViews || v.hashes > maxAllHashes+maxLineHashes {
		t.Errorf("%d views, %d in order, %d hashes", len(v.views), len(v.order), v.hashes)
	}
	if _, known, unsure := v.Of("f0"); known || !unsure {
		t.Errorf("the oldest: known %v, unsure %v", known, unsure)
	}
	if got := v.Recent(2); !slices.Equal(got, []string{fmt.Sprint("f", maxViews), fmt.Sprint("f", maxViews-1)}) {
		t.Errorf("recent %v", got)
	}
}

// TestShiftSpans compares the arithmetic of edits with marking every byte.
func TestShiftSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		seen := make([]bool, 30)
		var spans []Span
		for range rng.IntN(4) {
			from := rng.IntN(30)
			to := from + rng.IntN(31-from)
			spans = append(spans, Span{int64(from), int64(to)})
			for i := from; i < to; i++ {
				seen[i] = true
			}
		}
		var edits []Edit
		want := []bool{}
		at := 0
		for at < 30 && rng.IntN(4) > 0 {
			from := at + rng.IntN(30-at)
			to := from + rng.IntN(31-from)
			added := rng.IntN(5)
			edits = append(edits, Edit{Span{int64(from), int64(to)}, int64(added)})
			want = append(append(want, seen[at:from]...), slices.Repeat([]bool{true}, added)...)
			at = to
		}
		want = append(want, seen[at:]...)
		got := make([]bool, len(want))
		for _, s := range mergeSpans(shiftSpans(mergeSpans(slices.Clone(spans)), edits)) {
			for i := s.From; i < s.To && i < int64(len(got)); i++ {
				got[i] = true
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v after %v: %s", spans, edits, diff)
		}
	}
}

func TestChangedLines(t *testing.T) {
	v := newViews()
	v.Wrote("f", Version{}, Sum{}, "a\nb\nc\nd\n")
	view, _, _ := v.Of("f")
	for _, tt := range []struct {
		now      string
		from, to int
		ok       bool
	}{
		{"a\nb\nc\nd\n", 0, 0, false},
		{"a\nB\nc\nd\n", 2, 2, true},
		{"a\nB\nC\nd\n", 2, 3, true},
		{"a\nb\nnew\nc\nd\n", 3, 3, true},
		{"a\nd\n", 2, 1, true},
		{"", 1, 0, true},
		{"a\nb\nc\nd", 4, 4, true},
	} {
		if from, to, ok := view.ChangedLines(tt.now); from != tt.from || to != tt.to || ok != tt.ok {
			t.Errorf("%q: %d–%d %v, want %d–%d %v", tt.now, from, to, ok, tt.from, tt.to, tt.ok)
		}
	}
	v.Wrote("long", Version{}, Sum{}, strings.Repeat("x\n", maxLineHashes+1))
	view, _, _ = v.Of("long")
	if _, _, ok := view.ChangedLines("x\n"); ok {
		t.Error("the changes of a very long text are known")
	}
}
