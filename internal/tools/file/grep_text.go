package file

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/search"
	"github.com/handrail-tools/handrail/tool"
)

// maxOthers is how many files with further matches are named.
const maxOthers = 20

// grepText is the answer for the model: how much was found, the results, and
// what was not looked at.
func grepText(in grepArgs, r *search.Result, dropped bool) string {
	var b strings.Builder
	b.WriteString(grepHead(in, r))
	b.WriteByte('\n')
	for i, f := range r.Files {
		switch in.Output {
		case "files":
			b.WriteString(escapeName(f.Path))
			b.WriteByte('\n')
		case "count":
			fmt.Fprintf(&b, "%s: %d\n", escapeName(f.Path), f.Hits)
		default:
			if i > 0 {
				b.WriteByte('\n')
			}
			writeHits(&b, in, f)
		}
	}
	return strings.TrimSuffix(b.String()+remarks(grepNotes(in, r, dropped)), "\n")
}

// grepHead says how much was found, and which part of it follows.
func grepHead(in grepArgs, r *search.Result) string {
	total, noun := r.HitFiles, "file"
	if in.Output == "content" {
		total, noun = r.Hits, "match"
	}
	all := count(total, noun)
	if r.AtLeast {
		all = "at least " + all
	}
	if in.Output == "content" {
		all += " in " + count(r.HitFiles, "file")
	}
	switch {
	case total == 0:
		return fmt.Sprintf("Nothing in %s matches %s.", inFolder(in.Path), tool.Clip(in.Pattern))
	case r.Shown == 0:
		return fmt.Sprintf("There are only %s; offset %d is beyond the last.", all, in.Offset)
	case r.Shown == total && !r.AtLeast:
		return strings.ToUpper(all[:1]) + all[1:] + ":"
	default:
		return fmt.Sprintf("%d–%d of %s:", in.Offset+1, in.Offset+r.Shown, all)
	}
}

func count(n int, noun string) string {
	if noun == "match" && n != 1 {
		return strconv.Itoa(n) + " matches"
	}
	return plural(n, noun)
}

// writeHits writes the lines of one file: "12│" begins a line that matches,
// "13┆" one beside it, and "--" divides what lies apart where lines beside
// the matches are shown.
func writeHits(b *strings.Builder, in grepArgs, f search.FileHits) {
	b.WriteString(escapeName(f.Path))
	b.WriteByte('\n')
	last := 0
	for _, l := range f.Lines {
		if in.Before+in.After > 0 && last > 0 && l.Number > last+1 {
			b.WriteString("--\n")
		}
		last = l.Number + l.More
		mark := "│"
		if !l.Match {
			mark = "┆"
		}
		if in.Numbers {
			b.WriteString(strconv.Itoa(l.Number))
			b.WriteString(mark)
		}
		text, _ := output.Escape(l.Text)
		if l.Runes > 0 {
			b.WriteString(partOfLine(text, l))
		} else {
			b.WriteString(text)
		}
		b.WriteByte('\n')
		if l.More > 0 {
			fmt.Fprintf(b, "[the match goes on for %s]\n", plural(l.More, "line"))
		}
	}
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

func grepNotes(in grepArgs, r *search.Result, dropped bool) []string {
	var notes []string
	if more := in.Offset + r.Shown; r.Shown > 0 && (more < total(in, r) || r.AtLeast) {
		notes = append(notes, fmt.Sprintf("call again with offset %d for more", more))
	}
	if len(r.Others) > 0 {
		notes = append(notes, "further matches are in "+others(r))
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
	if r.Hits+r.HitFiles == 0 {
		tally(r.NotUTF8, "file", "in an encoding other than UTF-8, in which the pattern would be spelled differently")
		notes = append(notes, plural(r.Searched, "file")+" searched")
		if left := leftOut(r.Left, "; no_ignore searches them", " (hidden searches them)"); left != "" {
			notes = append(notes, left)
		}
		return notes
	}
	if r.Left.Closed > 0 {
		notes = append(notes, plural(r.Left.Closed, "folder")+" "+closedWhy)
	}
	if r.Left.Unreadable > 0 {
		notes = append(notes, plural(r.Left.Unreadable, "folder")+" that could not be read")
	}
	return notes
}

func total(in grepArgs, r *search.Result) int {
	if in.Output == "content" {
		return r.Hits
	}
	return r.HitFiles
}

// others names files with matches that are not shown.
func others(r *search.Result) string {
	var names []string
	for _, f := range r.Others[:min(len(r.Others), maxOthers)] {
		name := escapeName(f.Path)
		if f.Hits > 1 {
			name += fmt.Sprintf(" (%d)", f.Hits)
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	if n := len(r.Others) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more files", n)
	}
	return text
}
