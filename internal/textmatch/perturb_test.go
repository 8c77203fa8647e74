package textmatch

import (
	"go/build"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var runs = regexp.MustCompile(`[ \t]+`)

// perturbations are the ways in which models get a quotation wrong.
var perturbations = map[string]func(rng *rand.Rand, lines []string) []string{
	"as it is":              func(_ *rand.Rand, l []string) []string { return l },
	"indentation left out":  each(func(l string) string { return strings.TrimLeft(l, " \t") }),
	"four blanks for a tab": each(func(l string) string { return strings.ReplaceAll(l, "\t", "    ") }),
	"two blanks for a tab":  each(func(l string) string { return strings.ReplaceAll(l, "\t", "  ") }),
	"one step to the left":  each(func(l string) string { return strings.TrimPrefix(l, "\t") }),
	"one step to the right": each(func(l string) string { return "\t" + l }),
	"blanks at the end":     each(func(l string) string { return l + "  " }),
	"runs of blanks as one": each(func(l string) string { return runs.ReplaceAllString(l, " ") }),
	"a letter too much":     typo,
	"a line left out": func(rng *rand.Rand, l []string) []string {
		i := inner(rng, l)
		return slices.Delete(slices.Clone(l), i, i+1)
	},
	"a line that is not one": func(rng *rand.Rand, l []string) []string {
		return slices.Insert(slices.Clone(l), inner(rng, l), "\t// not there")
	},
}

func each(change func(string) string) func(*rand.Rand, []string) []string {
	return func(_ *rand.Rand, lines []string) []string {
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = change(l)
		}
		return out
	}
}

func inner(rng *rand.Rand, lines []string) int { return 1 + rng.IntN(len(lines)-2) }

func typo(rng *rand.Rand, lines []string) []string {
	out := slices.Clone(lines)
	if i := inner(rng, out); len(out[i]) > 8 {
		at := 4 + rng.IntN(len(out[i])-4)
		out[i] = out[i][:at] + "q" + out[i][at:]
	}
	return out
}

// TestPerturbedQuotations quotes blocks of real programs, slightly wrong,
// with one line changed and one added, and looks where the change lands.
func TestPerturbedQuotations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src/net/http/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs of the Go distribution: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tried, hit := make(map[string]int), make(map[string]int)
	for range 250 {
		data, err := os.ReadFile(files[rng.IntN(len(files))])
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		lines := strings.Split(text, "\n")
		size := 7 + rng.IntN(8)
		if len(lines) < size+2 {
			continue
		}
		at := rng.IntN(len(lines) - size - 1)
		block := lines[at : at+size]
		change := rng.IntN(size)
		if !quotable(text, block, change) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(perturbations)) {
			quoted := perturbations[name](rng, block)
			// The line to change is the one that is still recognised.
			q := slices.IndexFunc(quoted, func(l string) bool { return sameWords(l, block[change]) })
			if q < 0 {
				continue
			}
			replacement := slices.Clone(quoted)
			replacement[q] = indentOf(quoted[q]) + "changed(line)"
			replacement = slices.Insert(replacement, q+1, indentOf(quoted[q])+"added(line)")
			want := slices.Clone(lines)
			want[at+change] = indentOf(block[change]) + "changed(line)"
			want = slices.Insert(want, at+change+1, indentOf(block[change])+"added(line)")
			got, stage := apply(text, strings.Join(quoted, "\n"), strings.Join(replacement, "\n"))
			tried[name]++
			switch {
			case got == strings.Join(want, "\n"):
				hit[name]++
			case got != "" && !fitsElsewhere(lines, quoted, at):
				t.Errorf("%s, by %s: wrong place or wrong text for\n%s", name, stage, strings.Join(quoted, "\n"))
			}
		}
	}
	for name, n := range tried {
		t.Logf("%-24s %d of %d", name, hit[name], n)
		// What is missing has near-duplicates and is refused as ambiguous.
		if hit[name]*100 < n*90 {
			t.Errorf("%s: %d of %d are found", name, hit[name], n)
		}
	}
}

// quotable reports whether a block is there once, begins and ends with
// lines that are not blank, and has the line to change once.
func quotable(text string, block []string, change int) bool {
	alike := 0
	for _, l := range block {
		if sameWords(l, block[change]) {
			alike++
		}
	}
	return strings.Count(text, strings.Join(block, "\n")) == 1 && !blank(block[0]) && !blank(block[len(block)-1]) &&
		!blank(block[change]) && alike == 1
}

// fitsElsewhere reports whether a quotation that was got wrong is a better
// one of another place: nobody could tell then.
func fitsElsewhere(lines, quoted []string, at int) bool {
	for i := 0; i+len(quoted) <= len(lines); i++ {
		if i != at && slices.EqualFunc(lines[i:i+len(quoted)], quoted, sameWords) {
			return true
		}
	}
	return false
}
