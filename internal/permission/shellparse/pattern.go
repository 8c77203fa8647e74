package shellparse

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// star stands in a compiled pattern for "*".
	star = '\x02'
	// inner stands for a blank inside a word, which no blank between words is.
	inner = '\x01'
	// maxAlternatives is how many spellings one prefix rule may stand for.
	maxAlternatives = 256
	// maxPattern is the longest pattern, in bytes.
	maxPattern = 4096
)

// A Pattern names commands, as the rules of Claude Code do: "git status" is
// that command exactly, "git push:*" and "git push *" are it with any further
// arguments or none, and "*" elsewhere stands for any text.
type Pattern struct {
	text string
	// globs are the texts that match; one, unless it is a prefix rule with
	// alternatives.
	globs []string
	// folded are globs with the name as joinShapes folds it.
	folded []string
	// names are the base names of the program; nil where a wildcard stands in
	// it.
	names []string
	// words are those of a pattern without wildcards in its body, by which
	// options are found in any order.
	words [][]string
	// more says that further arguments are covered too.
	more bool
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// ParsePattern reads what stands between the brackets of a rule such as
// Bash(git push:*). The error says what would be right; a pattern that could
// never match is an error.
func ParsePattern(text string) (*Pattern, error) {
	p := &Pattern{text: text}
	body := text
	switch {
	case len(text) > maxPattern:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	case strings.TrimSpace(text) != text || text == "":
		return nil, errors.New("a pattern is not empty and has no blank at either end")
	case strings.ContainsAny(text, "\x00\x01\x02\n\r"):
		return nil, errors.New("a pattern is one line without control characters")
	case strings.HasPrefix(text, "command:") && text != "command:*":
		return nil, errors.New(`a pattern is the command itself: write "git status", not "command:git status"`)
	case text == "*" || text == ":*":
		p.globs, p.folded = []string{string(star)}, []string{string(star)}
		return p, nil
	}
	if b, ok := strings.CutSuffix(text, ":*"); ok {
		p.more, body = true, b
	} else if b, ok := strings.CutSuffix(text, " *"); ok {
		p.more, body = true, b
	}
	words, err := patternWords(strings.TrimSpace(body))
	if err != nil {
		return nil, err
	}
	p.add(words, strings.Contains(body, "*"))
	return p, nil
}

// patternWords splits the body of a pattern as the shell would split a
// command.
func patternWords(body string) ([]string, error) {
	if !strings.ContainsAny(body, "'\"\\") {
		if strings.ContainsAny(body, ";&|<>`\n") || strings.Contains(body, "$(") {
			return nil, fmt.Errorf("%q is more than one simple command; each command of a script is judged alone, so write one rule for each", body)
		}
		return strings.Fields(body), nil
	}
	w := &walker{parser: syntax.NewParser(syntax.Variant(syntax.LangBash)), text: body}
	file, err := w.parser.Parse(strings.NewReader(body), "")
	if err != nil {
		return nil, fmt.Errorf("its quotes cannot be read: %w", err)
	}
	if len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
		return nil, fmt.Errorf("%q is not one simple command without redirection", body)
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return nil, fmt.Errorf("%q is not one simple command", body)
	}
	var words []string
	for _, word := range call.Args {
		if lit := word.Lit(); lit != "" {
			words = append(words, lit)
			continue
		}
		value := w.single(word)
		if !value.Known {
			return nil, fmt.Errorf("%q is computed, so it can never be matched", w.source(word))
		}
		words = append(words, strings.ReplaceAll(value.Text, " ", string(inner)))
	}
	return words, nil
}

// PrefixPattern returns the pattern of a prefix rule as Codex writes them: the
// first arguments exactly, each one of some alternatives; "*" has no meaning.
func PrefixPattern(tokens [][]string) (*Pattern, error) {
	if len(tokens) == 0 {
		return nil, errors.New("a prefix has at least the name of a program")
	}
	lists := [][]string{nil}
	for _, alternatives := range tokens {
		var next [][]string
		for _, list := range lists {
			for _, t := range alternatives {
				if t == "" || strings.ContainsAny(t, "\x00\x01\x02") {
					return nil, errors.New("a word of a prefix is not empty and holds no control characters")
				}
				next = append(next, append(append([]string{}, list...), strings.ReplaceAll(t, " ", string(inner))))
			}
		}
		if lists = next; len(lists) == 0 || len(lists) > maxAlternatives {
			return nil, fmt.Errorf("a prefix stands for 1 to %d commands, not %d", maxAlternatives, len(lists))
		}
	}
	p := &Pattern{more: true}
	for i, list := range lists {
		if i > 0 {
			p.text += " | "
		}
		p.text += strings.Join(list, " ")
		p.add(list, false)
	}
	return p, nil
}

// add compiles one list of words.
func (p *Pattern) add(words []string, wildcards bool) {
	glob := strings.Join(words, " ")
	if wildcards {
		glob = strings.ReplaceAll(glob, "*", string(star))
	} else {
		p.words = append(p.words, words)
	}
	p.globs = append(p.globs, glob)
	first, rest, _ := strings.Cut(glob, " ")
	if at := strings.LastIndexByte(first, '/'); at >= 0 && first[0] != star {
		first = first[at+1:]
	}
	p.folded = append(p.folded, strings.TrimSuffix(foldName(first)+" "+rest, " "))
	if len(words) > 0 && (!wildcards || !strings.Contains(words[0], "*")) && (p.names != nil || len(p.globs) == 1) {
		p.names = append(p.names, foldName(path.Base(words[0])))
	}
}

// foldName is how names of programs are compared for what is refused: some
// file systems do not tell cases apart.
func foldName(name string) string {
	name = strings.ToLower(name)
	for _, end := range []string{".exe", ".cmd", ".bat", ".com"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// anyMatch reports whether one of the globs of a pattern matches a text, the
// arguments of a command joined with blanks. A wild byte in the text is only
// matched by a star; with possibly, it may stand for any text at all.
func (p *Pattern) anyMatch(globs []string, text string, possibly bool) bool {
	for _, g := range globs {
		if globMatch(g, p.more, text, possibly) {
			return true
		}
	}
	return false
}

// globMatch walks the text with the set of places in the pattern that it may
// be at.
func globMatch(glob string, more bool, text string, possibly bool) bool {
	if more {
		glob += string([]byte{' ', star})
	}
	n := len(glob)
	bodyEnd := n
	if more {
		bodyEnd = n - 2
	}
	var small [2][96]bool
	now, next := small[0][:], small[1][:]
	if n >= len(now) {
		now, next = make([]bool, n+1), make([]bool, n+1)
	}
	now, next = now[:n+1], next[:n+1]
	now[0] = true
	for i := 0; i < len(text); i++ {
		b, alive := text[i], false
		clear(next)
		reached := false
		for at := 0; at <= n; at++ {
			here := now[at] || at > 0 && now[at-1] && glob[at-1] == star
			now[at] = here
			switch {
			case possibly && b == wild:
				reached = reached || here
				next[at] = reached
			case !here || at == n:
			case glob[at] == star:
				next[at] = true
			case glob[at] == b:
				next[at+1] = true
			}
			alive = alive || next[at]
		}
		if alive = alive || next[n]; !alive {
			return false
		}
		now, next = next, now
	}
	for at := 1; at <= n; at++ {
		now[at] = now[at] || now[at-1] && glob[at-1] == star
	}
	return now[n] || more && now[bodyEnd]
}
