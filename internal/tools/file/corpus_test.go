package file

import (
	"bytes"
	"flag"
	"fmt"
	"go/build"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/workspace"
)

var (
	editsEach = flag.Int("edits.each", 25, "how many edits to generate for each language and mistake")
	editsSeed = flag.Uint64("edits.seed", 3, "what the generated edits are drawn from")
)

// corpus are the real files that edits are generated from: those of the Go
// distribution, and for TypeScript those of an npm package.
var corpus = map[string][]string{
	"Go":         {"$GOROOT/src/net/http/*.go", "$GOROOT/src/go/types/*.go", "$GOROOT/src/encoding/*/*.go"},
	"C":          {"$GOROOT/src/runtime/cgo/*.c", "$GOROOT/src/cmd/cgo/internal/test/*.c", "$GOROOT/src/cmd/cgo/internal/test/*.h"},
	"Python":     {"$GOROOT/src/runtime/runtime-gdb.py"},
	"TypeScript": {"testdata/typescript/node_modules/zod/src/v4/*/*.ts", "testdata/typescript/node_modules/zod/src/v3/*.ts"},
	"Markdown":   {"$GOROOT/doc/*.md", "$GOROOT/src/runtime/HACKING.md", "$GOROOT/src/cmd/compile/*.md", "$GOROOT/src/cmd/compile/internal/ssa/*.md"},
	"CSV":        {"$GOROOT/src/cmd/go/internal/modfetch/zip_sum_test/testdata/*.csv"},
}

// A source is a file of the corpus with LF line ends.
type source struct {
	language, text string
	lines          []string
}

// loadCorpus fails where a language has no files: the proof would be none.
func loadCorpus(t *testing.T) map[string][]source {
	t.Helper()
	all := map[string][]source{}
	for language, patterns := range corpus {
		for _, pattern := range patterns {
			paths, err := filepath.Glob(strings.Replace(pattern, "$GOROOT", build.Default.GOROOT, 1))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if len(data) > 400_000 || !utf8.Valid(data) || bytes.ContainsAny(data, "\r\x00") || bytes.Count(data, []byte("\n")) < 60 {
					continue
				}
				text := string(data)
				all[language] = append(all[language], source{language, text, strings.Split(strings.TrimSuffix(text, "\n"), "\n")})
			}
		}
		if len(all[language]) == 0 {
			t.Fatalf("the corpus has no %s: none of %q is there (TypeScript comes with: npm ci --ignore-scripts --prefix internal/tools/file/testdata/typescript)", language, patterns)
		}
	}
	return all
}

// A mistake is a way in which models get a quotation wrong, or a state of
// the file that they do not see.
type mistake struct {
	name string
	// lines changes the lines of old_string and new_string alike, quoted
	// only those that stand in the file too.
	lines, quoted func(line string) string
	// whole changes old_string and new_string as a whole.
	whole func(text string) string
	// inner changes the lines between the first and the last, of old_string
	// as of new_string: the same seed makes the same change.
	inner func(rng *rand.Rand, lines []string, keep string) []string
	// file changes the file, which the model has seen without that change.
	file func(text, block string) string
	// least is the fewest lines that are quoted.
	least int
}

var mistakes = []mistake{
	{name: "none", least: 1},
	{name: "indentation left out", least: 3, lines: func(l string) string { return strings.TrimLeft(l, " \t") }},
	{name: "blanks for tabs, tabs for blanks", least: 3, lines: otherIndent},
	{name: "one step to the right", least: 3, lines: func(l string) string {
		if strings.TrimSpace(l) == "" {
			return l
		}
		return "\t" + l
	}},
	{name: "one step to the left", least: 3, lines: func(l string) string {
		return strings.TrimPrefix(strings.TrimPrefix(l, "\t"), "  ")
	}},
	{name: "blanks at line ends", least: 1, quoted: func(l string) string { return l + "  " }},
	{name: "runs of blanks as one", least: 3, lines: func(l string) string { return strings.Join(strings.Fields(l), " ") }},
	{name: "typographic marks", least: 1, lines: func(l string) string {
		return strings.NewReplacer(`"`, "”", "'", "’", " - ", " – ").Replace(l)
	}},
	{name: "escaped once too often", least: 2, whole: func(s string) string {
		return strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(s)
	}},
	{name: "CRLF quoted", least: 2, whole: func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
	{name: "CRLF in the file", least: 2, file: func(text, _ string) string { return strings.ReplaceAll(text, "\n", "\r\n") }},
	{name: "a line end too many", least: 2, whole: func(s string) string { return "\n" + s + "\n\n" }},
	{name: "a line left out", least: 7, inner: func(rng *rand.Rand, l []string, keep string) []string {
		i := 1 + rng.IntN(len(l)-2)
		if l[i] == keep {
			return l
		}
		return slices.Delete(slices.Clone(l), i, i+1)
	}},
	{name: "a line that is not there", least: 7, inner: func(rng *rand.Rand, l []string, _ string) []string {
		return slices.Insert(slices.Clone(l), 1+rng.IntN(len(l)-2), "\tthis line is invented")
	}},
	{name: "letters wrong in a line", least: 7, inner: letters},
	{name: "near duplicate in the file", least: 4, quoted: func(l string) string { return l + " " }, file: nearDuplicate},
	{name: "letters wrong, and a near duplicate", least: 7, inner: letters, file: nearDuplicate},
	{name: "the same block twice", least: 3, quoted: func(l string) string { return l + " " }, file: func(text, block string) string {
		return text + block + "\n"
	}},
}

// letters puts letters into a line that is neither the first nor the last,
// nor the one to change.
func letters(rng *rand.Rand, l []string, keep string) []string {
	out := slices.Clone(l)
	if i := 1 + rng.IntN(len(l)-2); out[i] != keep && len(strings.TrimSpace(out[i])) > 8 {
		at := len(out[i]) - 4
		for !utf8.RuneStart(out[i][at]) {
			at--
		}
		out[i] = out[i][:at] + "qq" + out[i][at:]
	}
	return out
}

// nearDuplicate adds the block once more, with one line different.
func nearDuplicate(text, block string) string {
	lines := strings.Split(block, "\n")
	lines[len(lines)/2] += " other"
	return text + strings.Join(lines, "\n") + "\n"
}

// otherIndent writes an indentation as somebody would who did not see of
// what it is made.
func otherIndent(l string) string {
	body := strings.TrimLeft(l, " \t")
	indent := l[:len(l)-len(body)]
	if strings.Contains(indent, "\t") {
		return strings.ReplaceAll(indent, "\t", "    ") + body
	}
	return strings.ReplaceAll(indent, "  ", "\t") + body
}

// A corpusCase is one edit: what the model sends, what becomes of the file
// if the edit is made as it was meant, and whether a careful person, who has
// nothing but the file and the quotation, would make it.
type corpusCase struct {
	language, mistake       string
	file, quote, with, want string
	careful                 bool
	elsewhere               bool // another place fits at least as well
}

// newCase quotes a few lines of a file, changes one of them and adds
// another after it.
func newCase(rng *rand.Rand, src source, m mistake) (corpusCase, bool) {
	size := m.least + rng.IntN(8)
	if size+2 > len(src.lines) {
		return corpusCase{}, false
	}
	at := rng.IntN(len(src.lines) - size)
	block := src.lines[at : at+size]
	target := rng.IntN(size)
	if blank(block[0]) || blank(block[size-1]) || blank(block[target]) || occurrences(block, block[target]) != 1 {
		return corpusCase{}, false
	}
	if size == 1 && len(strings.TrimSpace(block[0])) < 12 {
		return corpusCase{}, false // nobody quotes a brace alone
	}
	indent := block[target][:len(block[target])-len(strings.TrimLeft(block[target], " \t"))]
	change := []string{indent + "changed(line)", indent + "added(line)"}
	c := corpusCase{language: src.language, mistake: m.name}
	text := src.text
	joined := strings.Join(block, "\n")
	if m.file != nil {
		text = m.file(text, joined)
	}
	lines := strings.Split(strings.TrimSuffix(src.text, "\n"), "\n")
	want := strings.Join(slices.Replace(lines, at+target, at+target+1, change...), "\n") + src.text[len(strings.TrimSuffix(src.text, "\n")):]
	if m.file != nil {
		want = m.file(want, joined)
	}
	quoted := slices.Clone(block)
	if m.inner != nil {
		quoted = m.inner(rng, quoted, block[target])
	}
	t := slices.Index(quoted, block[target])
	with := slices.Replace(slices.Clone(quoted), t, t+1, change...)
	for i := range quoted {
		quoted[i] = m.line(quoted[i])
	}
	for i := range with {
		if !slices.Contains(change, with[i]) {
			with[i] = m.line(with[i])
		} else if m.lines != nil {
			with[i] = m.lines(with[i])
		}
	}
	c.file, c.want = text, want
	c.quote, c.with = strings.Join(quoted, "\n"), strings.Join(with, "\n")
	seen := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	c.careful, c.elsewhere = careful(seen, quoted, block, at)
	if m.whole != nil {
		c.quote, c.with = m.whole(c.quote), m.whole(c.with)
	}
	if asItStands, ok := plainEditor(c); ok {
		c.want = asItStands // what stands there as it was quoted is replaced at its word
	}
	return c, true
}

func (m mistake) line(l string) string {
	switch {
	case m.lines != nil:
		return m.lines(l)
	case m.quoted != nil:
		return m.quoted(l)
	}
	return l
}

func blank(l string) bool { return strings.TrimSpace(l) == "" }

func occurrences(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if folded(l) == folded(line) {
			n++
		}
	}
	return n
}

// folded is a line without blanks and with plain marks.
func folded(l string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return -1
		case r == '”':
			return '"'
		case r == '’':
			return '\''
		case r == '–':
			return '-'
		}
		return r
	}, l)
}

// careful judges as a person would who reads the file from top to bottom
// with the quotation beside it, and looks at nothing but the letters: it
// counts how many lines of the quotation each place has, in order. One place
// must have all of them, or all but one of a longer quotation, and no other
// place may come near.
func careful(lines, quoted, block []string, at int) (sure, elsewhere bool) {
	want := make([]string, 0, len(quoted))
	for _, q := range quoted {
		want = append(want, folded(q))
	}
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = folded(l)
	}
	here := inOrder(all[at:at+len(block)], want)
	sure = here >= len(want)-1 && (here == len(want) || len(want) >= 6)
	for i := range all {
		if i > at-len(block) && i < at+len(block) {
			continue // it overlaps
		}
		there := inOrder(all[i:min(i+len(block), len(all))], want)
		if there >= here {
			elsewhere = true
		}
		if there >= here-1 && here < len(want) || there == len(want) {
			sure = false
		}
	}
	return sure, elsewhere
}

// inOrder is how many of the wanted lines a window has in their order.
func inOrder(window, want []string) int {
	row := make([]int, len(want)+1)
	for _, l := range window {
		diagonal := 0
		for j, q := range want {
			above := row[j+1]
			if l == q {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return row[len(want)]
}

// outcome is what an editor made of a case.
type outcome int

const (
	notMade outcome = iota
	asMeant
	amiss
)

// plainEditor replaces what is there exactly once, and nothing else.
func plainEditor(c corpusCase) (string, bool) {
	if strings.Count(c.file, c.quote) != 1 {
		return "", false
	}
	return strings.Replace(c.file, c.quote, c.with, 1), true
}

func judged(c corpusCase, got string, done bool) outcome {
	switch {
	case !done:
		return notMade
	case got == c.want:
		return asMeant
	default:
		return amiss
	}
}

// score counts what editors made of the cases of one kind.
type score struct{ sure, hit, plainHit, wrong, plainWrong, unsure, kept int }

func (s *score) add(c corpusCase, ours, plain outcome) {
	if ours == amiss && !(c.elsewhere && !c.careful) {
		s.wrong++
	}
	if plain == amiss {
		s.plainWrong++
	}
	if !c.careful {
		s.unsure++
		if ours == notMade {
			s.kept++
		}
		return
	}
	s.sure++
	if ours == asMeant {
		s.hit++
	}
	if plain == asMeant {
		s.plainHit++
	}
}

// TestGeneratedEdits makes edits of real files whose quotation is slightly
// wrong. Where a careful person would make the edit it is made, and never is
// anything else changed. The same cases go through an editor that takes
// exact quotations only.
func TestGeneratedEdits(t *testing.T) {
	all := loadCorpus(t)
	w, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	rng := rand.New(rand.NewPCG(*editsSeed, 14))
	byMistake, byLanguage := map[string]*score{}, map[string]*score{}
	total := score{}
	for _, language := range slices.Sorted(maps.Keys(all)) {
		byLanguage[language] = &score{}
		for _, m := range mistakes {
			if byMistake[m.name] == nil {
				byMistake[m.name] = &score{}
			}
			for n := 0; n < *editsEach; {
				sources := all[language]
				c, ok := newCase(rng, sources[rng.IntN(len(sources))], m)
				if !ok {
					continue
				}
				n++
				s := editing{views: w.Views(), name: "f", old: workspace.File{Rel: "f", Data: []byte(c.file)}}
				out, err := s.run([]oneEdit{{OldString: c.quote, NewString: c.with}}, "")
				ours := judged(c, string(out), err == nil)
				text, done := plainEditor(c)
				plain := judged(c, text, done)
				for _, s := range []*score{&total, byLanguage[language], byMistake[m.name]} {
					s.add(c, ours, plain)
				}
				switch {
				case ours == amiss && !(c.elsewhere && !c.careful):
					t.Errorf("%s, %s: wrong, by %v:\n%s\n-- with --\n%s\n%s", language, m.name, s.stages, c.quote, c.with, firstDifference(string(out), c.want))
				case ours == notMade && c.careful:
					t.Logf("%s, %s: not made: %.300v\n%s", language, m.name, err, c.quote)
				}
			}
		}
	}
	t.Log("\n" + table("mistake", byMistake) + table("language", byLanguage))
	if total.sure < 2000 || total.hit*100 < total.sure*99 {
		t.Errorf("%d of %d edits are made that a careful person would make; at least 99 %% of at least 2,000 are wanted", total.hit, total.sure)
	}
	if total.wrong > 0 {
		t.Errorf("%d edits changed something else", total.wrong)
	}
	t.Logf("in all: %d edits that a careful person would make: %d made here, %d by the plain editor; wrong %d here, %d there; %d of %d that nobody could be sure of refused",
		total.sure, total.hit, total.plainHit, total.wrong, total.plainWrong, total.kept, total.unsure)
}

func table(what string, rows map[string]*score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | sure | here | exact match | wrong here | wrong there | unsure, refused |\n|---|---|---|---|---|---|---|\n", what)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		s := rows[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d of %d |\n", name, s.sure, s.hit, s.plainHit, s.wrong, s.plainWrong, s.kept, s.unsure)
	}
	return b.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is %q, want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
