package shellparse

import (
	"path"
	"strings"
)

// A Set holds patterns and finds the ones that matter without asking all.
type Set struct {
	patterns []*Pattern
	byName   map[string][]int
	anyName  []int
}

// NewSet returns a set of patterns. It is not changed afterwards.
func NewSet(patterns ...*Pattern) *Set {
	s := &Set{patterns: patterns, byName: map[string][]int{}}
	for i, p := range patterns {
		if p.names == nil {
			s.anyName = append(s.anyName, i)
		}
		seen := ""
		for _, name := range p.names {
			if name != seen {
				s.byName[name] = append(s.byName[name], i)
			}
			seen = name
		}
	}
	return s
}

// A Match is a pattern that a part of a script is, or could be.
type Match struct {
	// Pattern is the index of the pattern in the set, or -1 where the part
	// could be what any of them names.
	Pattern int
	// Command is the index of the part in the program, or -1 where it is a
	// problem of the whole script.
	Command int
	// Sure is false where the part could be what the pattern names and could
	// be something else.
	Sure bool
	// Why says in a phrase what was compared.
	Why string
}

// Hit returns the pattern that matches any part of a script: a sure match if
// there is one, else a possible one. For rules that deny or ask.
//
// A part is compared as it is run, not as it is written: without quotes, path
// and wrapper, with git's sub-command moved to the front and options in any
// order and spelling. A part of which something is computed matches what it
// could be; a script with problems matches everything.
func (s *Set) Hit(p *Program) (Match, bool) {
	if len(s.patterns) == 0 {
		return Match{}, false
	}
	var maybe Match
	has := false
	if len(p.Problems) > 0 {
		maybe, has = Match{Pattern: -1, Command: -1, Why: p.Problems[0]}, true
	}
	for i := range p.Commands {
		m, ok := s.hit(&p.Commands[i])
		if !ok {
			continue
		}
		m.Command = i
		if m.Sure {
			return m, true
		}
		if !has {
			maybe, has = m, true
		}
	}
	return maybe, has
}

// hit looks for a match of one command. Only patterns whose name could be
// meant are looked at, so that a long list costs no more than a short one.
func (s *Set) hit(c *Command) (Match, bool) {
	if len(c.Words) == 0 && c.Opaque == "" {
		return Match{}, false
	}
	h := hunt{set: s, command: c, texts: newTexts(c)}
	if h.try(s.anyName) || c.Name != "" && h.try(s.byName[foldName(c.Name)]) {
		return h.found, true
	}
	if c.Code != "" {
		for _, word := range names(c.Code) {
			if list := s.byName[word]; len(list) > 0 {
				return Match{Pattern: list[0], Sure: true, Why: "the program that " + c.Name + " is given names " + word}, true
			}
		}
	}
	for _, suffix := range h.texts.suffixes {
		name, _, _ := strings.Cut(suffix, " ")
		if h.try(s.byName[name]) {
			return h.found, true
		}
		if c.sure && !h.has && strings.IndexByte(name, wild) >= 0 {
			h.found, h.has = Match{Pattern: -1, Why: "the command that it runs is computed"}, true
		}
	}
	switch {
	case h.has:
	case c.Opaque != "":
		return Match{Pattern: -1, Why: c.Opaque}, true
	case c.Code != "" && c.Class != ReadOnly && mayStart(c.Code):
		return Match{Pattern: -1, Why: "the program that " + c.Name + " is given may start others"}, true
	}
	return h.found, h.has
}

// A hunt is the search for a pattern that matches one command.
type hunt struct {
	set     *Set
	command *Command
	texts   texts
	found   Match
	has     bool
}

// try compares some patterns, and reports whether one matches for sure.
func (h *hunt) try(list []int) bool {
	for _, i := range list {
		sure, why := h.set.patterns[i].hit(h.command, &h.texts)
		if why == "" {
			continue
		}
		if sure || !h.has {
			h.found, h.has = Match{Pattern: i, Sure: sure, Why: why}, true
		}
		if sure {
			return true
		}
	}
	return false
}

// texts are the forms of a command that patterns are compared with.
type texts struct {
	forms    []string
	suffixes []string
}

func newTexts(c *Command) texts {
	t := texts{}
	if len(c.Words) == 0 {
		return t
	}
	t.forms = append(t.forms, joinShapes(c.Words, true))
	for _, f := range c.forms {
		t.forms = append(t.forms, joinShapes(f, true))
	}
	if c.suffixes {
		for i := 1; i < len(c.Words) && i <= maxFields; i++ {
			if c.Words[i].Computed && !c.sure {
				continue // A guess upon a reckoning says nothing.
			}
			t.suffixes = append(t.suffixes, joinShapes(c.Words[i:], true))
			if w := c.Words[i].shape; strings.ContainsAny(w, " ") {
				t.suffixes = append(t.suffixes, w)
			}
		}
	}
	return t
}

// joinShapes joins words with blanks; blanks inside a word are not taken for
// those between words. For rules that refuse, a name is its base name.
func joinShapes(words []Word, fold bool) string {
	var b strings.Builder
	for i, w := range words {
		shape := w.shape
		if i == 0 && fold {
			shape = foldName(path.Base(shape))
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.IndexByte(shape, ' ') >= 0 {
			shape = strings.ReplaceAll(shape, " ", string(inner))
		}
		b.WriteString(shape)
	}
	return b.String()
}

// hit compares one command for a rule that refuses. why is "" for no match.
func (p *Pattern) hit(c *Command, t *texts) (sure bool, why string) {
	for _, form := range t.forms {
		if p.anyMatch(p.folded, form, false) {
			return true, "it is what the rule names"
		}
	}
	byOptions, perhaps := p.optionsHit(c)
	if byOptions {
		return true, "it is what the rule names, with its options in another order or spelling"
	}
	for _, suffix := range t.suffixes {
		if p.anyMatch(p.folded, suffix, false) {
			return c.sure, "one of its arguments may be the command that it runs"
		}
	}
	if perhaps {
		return false, "an argument that is computed could be one of the options that the rule names"
	}
	for _, form := range append(t.forms[:len(t.forms):len(t.forms)], t.suffixes...) {
		if strings.IndexByte(form, wild) >= 0 && p.anyMatch(p.folded, form, true) {
			return false, "a part of it is computed and could be what the rule names"
		}
	}
	return false, ""
}

// optionsHit reports whether a command has all options of a pattern without
// wildcards, however they are spelled, and begins with its arguments; or
// whether words that are computed could be those options.
func (p *Pattern) optionsHit(c *Command) (hit, perhaps bool) {
	for _, words := range p.words {
		if len(words) < 2 || c.Name == "" || foldName(c.Name) != foldName(path.Base(words[0])) {
			continue
		}
		wantOptions, want := spellings(c.Name, textWords(words))
		if len(wantOptions) == 0 {
			continue
		}
		for _, form := range append([][]Word{c.Words}, c.forms...) {
			options, rest := spellings(c.Name, form)
			if len(rest) < len(want) || !p.more && (len(rest) != len(want) || len(options) != len(wantOptions)) || !prefixOf(want, rest) {
				continue
			}
			if subset(wantOptions, options) {
				return true, false
			}
			for _, w := range form[1:] {
				perhaps = perhaps || !w.Known && w.mayBeOption()
			}
		}
	}
	return false, perhaps
}

func textWords(words []string) []Word {
	out := make([]Word, len(words))
	for i, w := range words {
		w = strings.ReplaceAll(w, string(inner), " ")
		out[i] = Word{Text: w, Known: true, shape: w}
	}
	return out
}

// spellings returns the options of a command, each in the spelling that stands
// for all, and its other arguments. A value of an option stays with the
// arguments, since a pattern may leave open whose it is.
func spellings(name string, words []Word) (options, rest []string) {
	e := table().lookup(name)
	if e != nil && e.subs && len(words) > 1 {
		if sub := table().entries[name+" "+words[1].shape]; sub != nil {
			e = sub
		}
	}
	canonical := func(o string) string {
		if e != nil {
			if f := e.options[o]; f.same != "" {
				return f.same
			}
		}
		return o
	}
	ended := false
	for _, w := range words[1:] {
		shape := w.shape
		switch {
		case ended || !isOption(shape):
			rest = append(rest, shape)
		case shape == "--":
			ended = true
		case strings.HasPrefix(shape, "--"):
			long, value, has := strings.Cut(shape, "=")
			options = append(options, canonical(full(e, long)))
			if has {
				rest = append(rest, value)
			}
		default:
			for i := 1; i < len(shape); i++ {
				options = append(options, canonical("-"+shape[i:i+1]))
			}
		}
	}
	return options, rest
}

// full completes a long option that is cut short.
func full(e *entry, long string) string {
	if e == nil || e.options[long] != (optionFact{}) {
		return long
	}
	found := long
	for o := range e.options {
		if strings.HasPrefix(o, long) && (found == long || o < found) {
			found = o
		}
	}
	return found
}

func subset(want, have []string) bool {
	for _, w := range want {
		found := false
		for _, h := range have {
			found = found || h == w
		}
		if !found {
			return false
		}
	}
	return true
}

func prefixOf(want, have []string) bool {
	for i, w := range want {
		if have[i] != w {
			return false
		}
	}
	return true
}
