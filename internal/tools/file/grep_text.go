package file

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// grepRoom is how much of the budget the results may take; the rest is
	// for the first line and the notes.
	grepRoom = grepBytes - 3_000
	// maxOthers is how many files, or folders, with further matches are
	// named.
	maxOthers = 20
)

// grepText is the answer for the model: how much was found, the results, and
// what was not looked at.
func grepText(in grepArgs, r *search.Result, dropped bool) string {
	p := grepPage{in: in, room: grepRoom}
	for i := range r.Files {
		if !p.file(&r.Files[i]) {
			break
		}
	}
	p.rest = append(p.rest, r.Others...)
	return strings.TrimSuffix(p.head(r)+"\n"+p.b.String()+remarks(p.notes(r, dropped)), "\n")
}

// grepPage writes results as long as there is room. It ends between two
// results, never within one, so that an offset brings exactly what follows.
type grepPage struct {
	in    grepArgs
	b     strings.Builder
	room  int
	shown int // results that were written
	full  bool
	rest  []search.FileCount // files with matches that were not written
}

// file writes the results of a file and reports whether there is room for
// more.
func (p *grepPage) file(f *search.FileHits) bool {
	switch p.in.Output {
	case "files":
		return p.line(f, escapeName(f.Path)+"\n")
	case "count":
		return p.line(f, fmt.Sprintf("%s: %d\n", escapeName(f.Path), f.Hits))
	}
	return p.lines(f)
}

// line writes a file that is one line.
func (p *grepPage) line(f *search.FileHits, text string) bool {
	if p.full = p.full || p.shown > 0 && len(text) > p.room; p.full {
		p.rest = append(p.rest, search.FileCount{Path: f.Path, Hits: f.Hits})
		return true // for the sake of the rest
	}
	p.write(text)
	p.shown++
	return true
}

func (p *grepPage) write(text string) {
	p.b.WriteString(text)
	p.room -= len(text)
}

// lines writes the lines of a file, hit by hit: "12│" begins a line that
// matches, "13┆" one beside it, and "--" divides what lies apart where lines
// beside the matches are shown.
func (p *grepPage) lines(f *search.FileHits) bool {
	title := escapeName(f.Path) + "\n"
	if p.b.Len() > 0 {
		title = "\n" + title
	}
	written, last := f.From, 0
	for lines := f.Lines; len(lines) > 0 && !p.full; {
		n := 1
		for n < len(lines) && lines[n].Hit == lines[0].Hit {
			n++
		}
		text, end := p.hit(lines[:n], last)
		if p.full = p.shown > 0 && len(title)+len(text) > p.room; p.full {
			break
		}
		p.write(title + text)
		p.shown++
		written++
		title, last, lines = "", end, lines[n:]
	}
	if written == f.From && !p.full {
		return true // it has changed since it was counted
	}
	if left := f.Hits - written; left > 0 {
		p.rest = append(p.rest, search.FileCount{Path: f.Path, Hits: left})
	}
	return true
}

// hit returns the lines of one hit, of which the one before ended at line
// number last, and the number of its own last line.
func (p *grepPage) hit(lines []search.Line, last int) (text string, end int) {
	var b strings.Builder
	for _, l := range lines {
		if p.in.Before+p.in.After+p.in.Context > 0 && last > 0 && l.Number > last+1 {
			b.WriteString("--\n")
		}
		last = l.Number + l.More
		if p.in.Numbers {
			b.WriteString(strconv.Itoa(l.Number))
			b.WriteString(map[bool]string{true: "│", false: "┆"}[l.Match])
		}
		text, _ := output.Escape(l.Text)
		if l.Runes > 0 {
			text = partOfLine(text, l)
		}
		b.WriteString(text)
		b.WriteByte('\n')
		if l.More > 0 {
			fmt.Fprintf(&b, "[the match goes on for %s]\n", plural(l.More, "line"))
		}
	}
	return b.String(), last
}

// partOfLine shows a part of a long line and says so.
func partOfLine(text string, l search.Line) string {
	before, after := "", ""
	if l.Skipped > 0 {
		before = "… "
	}
	if l.Skipped+search.MaxLine < l.Runes {
		after = " …"
	}
	return fmt.Sprintf("%s%s%s [part of a line of %d characters]", before, text, after, l.Runes)
}

// head says how much was found, and which part of it follows.
func (p *grepPage) head(r *search.Result) string {
	total, noun := total(p.in, r), "file"
	if p.in.Output == "content" {
		noun = "match"
	}
	all := count(total, noun)
	if r.AtLeast {
		all = "at least " + all
	}
	if p.in.Output == "content" {
		all += " in " + count(r.HitFiles, "file")
	}
	switch {
	case total == 0 && r.Searched == 0 && len(p.in.Glob)+len(p.in.Type) > 0:
		return fmt.Sprintf("No file in %s is of the glob or type that was asked for.", inFolder(p.in.Path))
	case total == 0:
		return fmt.Sprintf("Nothing in %s matches %s.", inFolder(p.in.Path), tool.Clip(p.in.Pattern))
	case r.Shown == 0:
		return fmt.Sprintf("There are only %s; offset %d is beyond the last.", all, p.in.Offset)
	case p.shown == total && !r.AtLeast:
		return strings.ToUpper(all[:1]) + all[1:] + ":"
	default:
		return fmt.Sprintf("%d–%d of %s:", p.in.Offset+1, p.in.Offset+p.shown, all)
	}
}

func count(n int, noun string) string {
	if noun == "match" && n != 1 {
		return strconv.Itoa(n) + " matches"
	}
	return plural(n, noun)
}

// total is how many results there are.
func total(in grepArgs, r *search.Result) int {
	if in.Output == "content" {
		return r.Hits
	}
	return r.HitFiles
}

func (p *grepPage) notes(r *search.Result, dropped bool) []string {
	var notes []string
	if next := p.in.Offset + p.shown; p.shown > 0 && (next < total(p.in, r) || r.AtLeast) {
		why := ""
		if p.full {
			why = "; no more fits into one answer"
		}
		notes = append(notes, fmt.Sprintf("call again with offset %d for more%s", next, why))
	}
	if len(p.rest) > 0 {
		notes = append(notes, "further matches are in "+others(p.rest, p.in.Output != "files"))
	}
	if r.TimeOut {
		notes = append(notes, fmt.Sprintf("the search was stopped after %s, so these are some of the results, not the first; search a smaller folder", grepTime))
	}
	if dropped {
		notes = append(notes, "ignore files leave this folder out, so they were not asked")
	}
	tally := func(t search.Tally, noun, why string) {
		if t.Count > 0 {
			notes = append(notes, fmt.Sprintf("%s %s (%s%s)", plural(t.Count, noun), why, strings.Join(escapeAll(t.Names), ", "), more(t.Count, len(t.Names))))
		}
	}
	tally(r.Binary, "binary file", "with a match, whose lines are not shown")
	tally(r.TooLarge, "file", "too large to be searched across lines")
	if r.Closed > 0 {
		notes = append(notes, plural(r.Closed, "file")+" "+closedWhy+", not searched")
	}
	tally(r.Unreadable, "file", "that could not be read")
	tally(r.NotUTF8, "file", "in an encoding other than UTF-8, in which the pattern would be spelled differently")
	if r.HitFiles == 0 {
		return append(notes, p.whyNothing(r)...)
	}
	if r.Left.Closed > 0 {
		notes = append(notes, plural(r.Left.Closed, "folder")+" "+closedWhy)
	}
	if r.Left.Unreadable > 0 {
		notes = append(notes, plural(r.Left.Unreadable, "folder")+" that could not be read")
	}
	return notes
}

// whyNothing says what was looked at and what was not, where nothing was
// found.
func (p *grepPage) whyNothing(r *search.Result) []string {
	var notes []string
	if strings.Contains(p.in.Pattern, `\|`) && !p.in.Literal {
		notes = append(notes, `in this pattern \| is a bar that stands for itself; alternatives are divided by | alone`)
	}
	notes = append(notes, plural(r.Searched, "file")+" searched")
	if left := leftOut(r.Left, "; no_ignore searches them", " (hidden searches them)"); left != "" {
		notes = append(notes, left)
	}
	return notes
}

// others names files with matches that are not shown, or the folders that
// they lie in where there are many.
func others(files []search.FileCount, counted bool) string {
	if len(files) > maxOthers {
		files, counted = byFolder(files), true
	}
	var names []string
	for _, f := range files[:min(len(files), maxOthers)] {
		name := escapeName(tool.Clip(f.Path))
		if counted && (f.Hits > 1 || strings.HasSuffix(name, "/")) {
			name += fmt.Sprintf(" (%d)", f.Hits)
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if n := len(files) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more folders", n)
	}
	return text
}

// byFolder adds up files by the folder that they lie in, or where that are
// still many, by the first folder of their paths. Files come in order of
// path.
func byFolder(files []search.FileCount) []search.FileCount {
	sum := func(folder func(string) string) []search.FileCount {
		var sums []search.FileCount
		at := map[string]int{}
		for _, f := range files {
			name := folder(f.Path)
			if _, known := at[name]; !known {
				at[name] = len(sums)
				sums = append(sums, search.FileCount{Path: name})
			}
			sums[at[name]].Hits += f.Hits
		}
		return sums
	}
	sums := sum(func(p string) string { return path.Dir(p) + "/" })
	if len(sums) > maxOthers {
		sums = sum(func(p string) string {
			top, _, below := strings.Cut(p, "/")
			if !below {
				return "./"
			}
			return cmp.Or(top, "/"+strings.SplitN(p, "/", 3)[1]) + "/"
		})
	}
	return sums
}
