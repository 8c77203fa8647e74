package patch

import (
	"strings"
)

// A source is the text of a patch as lines, without what was wrapped around
// it.
type source struct {
	lines []string
	first int // the number of lines[0] in the text that was given, from 1
}

// number returns the number of a line in the text that was given.
func (s source) number(i int) int { return s.first + i }

// is reports whether the first line is a marker, with blanks around it or
// not.
func (s source) is(marker string) bool {
	return len(s.lines) > 0 && strings.TrimSpace(s.lines[0]) == marker
}

func (s source) wrong(i int, format string, args ...any) error {
	var e SyntaxError
	e.add(s.number(i), format, args...)
	return &e
}

// trim drops blank lines at the start. At the end they may be context.
func (s source) trim() source {
	for len(s.lines) > 0 && strings.TrimSpace(s.lines[0]) == "" {
		s.lines, s.first = s.lines[1:], s.first+1
	}
	return s
}

// last returns the last line that is not blank; the first is none.
func (s source) last() int {
	i := len(s.lines) - 1
	for strings.TrimSpace(s.lines[i]) == "" {
		i--
	}
	return i
}

// unwrap takes a patch out of a shell's here-document or a Markdown fence.
func unwrap(text string) (source, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	s := source{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), first: 1}
	for i, line := range s.lines {
		s.lines[i] = strings.TrimSuffix(line, "\r")
	}
	s = s.trim()
	for range 2 { // a here-document inside a fence
		if len(s.lines) == 0 {
			return s, s.wrong(0, "the patch is empty")
		}
		word, command, ok := wrapper(strings.TrimSpace(s.lines[0]))
		if !ok {
			break
		}
		if command != "" {
			return s, s.wrong(0, "%s is not run here: give the patch alone, from *** Begin Patch to *** End Patch, with paths relative to the workspace", quote(command))
		}
		last := s.last()
		if last == 0 || strings.TrimSpace(s.lines[last]) != word {
			return s, s.wrong(0, "%s is opened here and the last line is not %s; the patch may have been cut off", quote(s.lines[0]), quote(word))
		}
		s.lines, s.first = s.lines[1:last], s.first+1
		s = s.trim()
	}
	if len(s.lines) == 0 {
		return s, s.wrong(0, "the patch is empty")
	}
	return s, nil
}

// wrapper tells whether a line opens something around a patch: word is the
// line that closes it, and command is set for what only a shell can do.
func wrapper(line string) (word, command string, ok bool) {
	if info, fence := strings.CutPrefix(line, "```"); fence {
		switch strings.TrimSpace(info) {
		case "", "diff", "patch", "text":
			return "```", "", true
		}
		return "", "", false
	}
	before, word, found := strings.Cut(line, "<<")
	if !found {
		return "", "", false
	}
	word = strings.TrimSpace(word)
	if n := len(word); n >= 2 && (word[0] == '\'' || word[0] == '"') && word[n-1] == word[0] {
		word = word[1 : n-1]
	}
	if !isWord(word) {
		return "", "", false
	}
	before = strings.TrimSpace(before)
	switch {
	case before == "" || before == "apply_patch" || before == "applypatch":
		return word, "", true
	case strings.HasPrefix(before, "cd ") && (strings.HasSuffix(before, "apply_patch") || strings.HasSuffix(before, "applypatch")):
		return word, line, true
	}
	return "", "", false
}

func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}
