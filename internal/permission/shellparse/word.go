package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxFields is how many words one word may become by braces before it counts
// as not known; {1..9} is not enumerated at all.
const maxFields = 64

// A field is a word that is being put together.
type field struct {
	shape    strings.Builder
	quoted   bool // something quoted: the word exists even when it is empty
	unknown  bool
	computed bool
	glob     bool
	many     bool
}

// fields expands words as the shell would before it starts a program, as far
// as that can be known from the text.
func (w *walker) fields(words []*syntax.Word) []Word {
	out := make([]Word, 0, len(words))
	for _, word := range words {
		if plain(word) {
			lit := word.Parts[0].(*syntax.Lit).Value
			out = append(out, Word{Text: lit, Known: true, shape: lit})
			continue
		}
		if !braced(word) {
			out = append(out, w.expand(word)...)
			continue
		}
		if strings.Count(w.source(word), "{") > maxBraces {
			out = append(out, Word{Text: w.source(word), Many: true, shape: string(wild)})
			continue
		}
		// The parser's word stays as it is: it may be expanded again.
		split := &syntax.Word{Parts: slices.Clone(word.Parts)}
		if !syntax.SplitBraces(split) {
			out = append(out, w.expand(word)...)
			continue
		}
		alternatives, ok := braces(split)
		if !ok {
			out = append(out, Word{Text: w.source(word), Many: true, shape: string(wild)})
			continue
		}
		for _, alt := range alternatives {
			f := &field{}
			for _, part := range alt.Parts {
				out, f = w.part(part, out, f)
			}
			out = w.end(out, f, nil)
		}
	}
	return out
}

// plain reports whether a word is one literal in which nothing is special.
func plain(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	lit, ok := word.Parts[0].(*syntax.Lit)
	return ok && !strings.ContainsAny(lit.Value, "\\*?[{")
}

// braced reports whether a word has a brace outside quotes.
func braced(word *syntax.Word) bool {
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// braces returns the words that {a,b} makes of one.
func braces(word *syntax.Word) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, part := range word.Parts {
		exp, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, o := range out {
				o.Parts = append(o.Parts, part)
			}
			continue
		}
		if exp.Sequence {
			return nil, false
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, elem := range exp.Elems {
				inner, ok := braces(elem)
				if !ok || len(next)+len(inner) > maxFields {
					return nil, false
				}
				for _, in := range inner {
					parts := append(append([]syntax.WordPart{}, o.Parts...), in.Parts...)
					next = append(next, &syntax.Word{Parts: parts})
				}
			}
		}
		out = next
	}
	return out, true
}

// expand does everything but braces. One word may become several where an
// unquoted value is split at blanks.
func (w *walker) expand(word *syntax.Word) []Word {
	var out []Word
	f := &field{}
	for _, part := range word.Parts {
		out, f = w.part(part, out, f)
	}
	return w.end(out, f, word)
}

func (w *walker) part(part syntax.WordPart, out []Word, f *field) ([]Word, *field) {
	switch part := part.(type) {
	case *syntax.Lit:
		f.unquoted(part.Value)
	case *syntax.SglQuoted:
		f.quoted = true
		if part.Dollar {
			text, ok := ansiC(part.Value)
			f.add(text, ok)
		} else {
			f.add(part.Value, true)
		}
	case *syntax.DblQuoted:
		f.quoted = true
		for _, in := range part.Parts {
			w.inQuotes(in, f)
		}
	default:
		value, ok := w.value(part)
		f.computed = true
		if !ok || w.survey.set["IFS"] > 0 {
			f.unknown, f.many = true, true
			f.shape.WriteByte(wild)
			break
		}
		return w.split(value, out, f)
	}
	return out, f
}

// split adds an unquoted value, which the shell cuts at blanks.
func (w *walker) split(value string, out []Word, f *field) ([]Word, *field) {
	if strings.ContainsAny(value, "*?[\\") {
		f.unknown, f.many = true, true
		f.shape.WriteByte(wild)
		return out, f
	}
	pieces := strings.FieldsFunc(value, isBlank)
	cut := value != "" && isBlank(rune(value[0]))
	for i, piece := range pieces {
		if i > 0 || cut {
			out, f = w.end(out, f, nil), &field{computed: true}
		}
		f.add(piece, true)
	}
	if value != "" && isBlank(rune(value[len(value)-1])) {
		out, f = w.end(out, f, nil), &field{}
	}
	return out, f
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// inQuotes adds a part of a double-quoted string.
func (w *walker) inQuotes(part syntax.WordPart, f *field) {
	if lit, ok := part.(*syntax.Lit); ok {
		f.add(unescape(lit.Value, "$`\"\\"), true)
		return
	}
	value, ok := w.value(part)
	f.computed = true
	if e, isParam := part.(*syntax.ParamExp); isParam && !ok && (e.Param != nil && e.Param.Value == "@" || e.Index != nil) {
		f.many = true
	}
	f.add(value, ok)
}

func (f *field) add(text string, known bool) {
	if !known || strings.IndexByte(text, wild) >= 0 {
		f.unknown = true
		f.shape.WriteByte(wild)
		return
	}
	f.shape.WriteString(text)
}

// unquoted adds a literal outside quotes: escapes are taken away, wildcards
// noted.
func (f *field) unquoted(s string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) {
				i++
				f.quoted = true
				if s[i] != '\n' {
					f.shape.WriteByte(s[i])
				}
			}
		case '*', '?', '[':
			f.glob, f.unknown, f.many = true, true, true
			f.shape.WriteByte(wild)
		default:
			f.shape.WriteByte(s[i])
		}
	}
}

// end closes a field. word is how it is written, nil for a piece of a value.
func (w *walker) end(out []Word, f *field, word *syntax.Word) []Word {
	shape := f.shape.String()
	if shape == "" && !f.quoted && !f.unknown {
		return out
	}
	// A lone "[" is the test command, not a wildcard.
	if f.glob && shape == string(wild) && word != nil && word.Lit() == "[" {
		return append(out, Word{Text: "[", Known: true, shape: "["})
	}
	res := Word{Text: shape, Known: !f.unknown, Computed: f.computed, Glob: f.glob, Many: f.many, shape: shape}
	if f.unknown {
		res.Text = strings.ReplaceAll(shape, string(wild), "…")
		if word != nil {
			res.Text = w.source(word)
		}
	}
	return append(out, res)
}

// single expands a word that the shell does not split: the target of a
// redirection, the value of an assignment.
func (w *walker) single(word *syntax.Word) Word {
	if word == nil {
		return Word{Known: true}
	}
	got := w.expand(word)
	switch len(got) {
	case 0:
		return Word{Known: true}
	case 1:
		return got[0]
	}
	text := make([]string, len(got))
	shape := make([]string, len(got))
	res := Word{Known: true, Computed: true}
	for i, g := range got {
		text[i], shape[i] = g.Text, g.shape
		res.Known = res.Known && g.Known
	}
	res.Text, res.shape = strings.Join(text, " "), strings.Join(shape, " ")
	return res
}

// source returns how a node is written.
func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.text) {
		return "…"
	}
	return w.text[from:to]
}

// unescape takes the backslash away in front of the bytes that it escapes.
func unescape(s, escapable string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte(escapable, s[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
