package match

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxPattern is the longest pattern, in bytes. A list of a thousand
	// words fits.
	MaxPattern = 16 << 10

	// maxProgram bounds the compiled pattern, in instructions. One of them
	// costs a few nanoseconds for each new state, so a search stays
	// responsive. octos bounds the compiled size too, at 1 MiB.
	maxProgram = 20_000
)

// Options say how a pattern is meant. The zero value is a regular expression
// that is matched within lines.
type Options struct {
	// Literal takes the pattern as plain text.
	Literal bool
	// IgnoreCase matches letters of either case.
	IgnoreCase bool
	// SmartCase ignores case where the pattern has no capital letter.
	SmartCase bool
	// Word wants no word character on either side of a match.
	Word bool
	// Multiline lets a match span lines; "." matches a newline too.
	Multiline bool
}

// Pattern is a compiled pattern. It never changes and may be used from
// several goroutines at once.
type Pattern struct {
	re    *syntax.Regexp
	prog  *syntax.Prog
	words wordSet  // one of these is in every match; empty where unknown
	whole bool     // finding a word is finding a match
	lines bool     // matches do not span lines
	ascii bool     // the pattern is written in ASCII
	inner bool     // group 1 is the match without its neighbours
	spans *spanner // only where matches span lines
}

// Compile reads a pattern. Its errors are meant for whoever wrote the
// pattern: they say what is wrong and what would be right.
func Compile(expr string, o Options) (*Pattern, error) {
	if len(expr) > MaxPattern {
		return nil, fmt.Errorf("the pattern is %d bytes long; at most %d are possible", len(expr), MaxPattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if o.Multiline {
		flags |= syntax.DotNL
	}
	if o.IgnoreCase || o.SmartCase && !hasCapital(expr, o.Literal) {
		flags |= syntax.FoldCase
	}
	if o.Literal {
		flags |= syntax.Literal
	}
	re, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, explain(err, expr)
	}
	if !o.Multiline && hasNewline(re) {
		return nil, errors.New("the pattern contains a newline, but a match stays within one line; set multiline to search across lines")
	}
	endBeforeCR(re)
	if o.Word {
		re = wholeWord(re)
	}
	re = re.Simplify()
	prog, err := syntax.Compile(re)
	if err != nil {
		return nil, explain(err, expr)
	}
	if len(prog.Inst) > maxProgram {
		return nil, fmt.Errorf("the pattern is too complex (%d steps, at most %d are possible); use smaller counts or fewer alternatives", len(prog.Inst), maxProgram)
	}
	p := &Pattern{re: re, prog: prog, lines: !o.Multiline, inner: o.Word, ascii: isASCII(expr)}
	p.words, p.whole = required(re, p.lines)
	if o.Multiline {
		if p.spans, err = newSpanner(p); err != nil {
			return nil, explain(err, expr)
		}
	}
	return p, nil
}

// NonASCII reports whether the pattern is written with characters outside
// ASCII. A file in another encoding than UTF-8 spells them differently.
func (p *Pattern) NonASCII() bool { return !p.ascii }

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// hasCapital reports whether the pattern has a capital letter that stands
// for itself; the S of \S does not, nor does the name in \p{Greek}.
func hasCapital(expr string, literal bool) bool {
	for i, r := range expr {
		if !unicode.IsUpper(r) {
			continue
		}
		if literal || !inEscape(expr[:i]) {
			return true
		}
	}
	return false
}

// inEscape reports whether what follows the text belongs to an escape that
// the text ends in.
func inEscape(text string) bool {
	if open := strings.LastIndexByte(text, '{'); open >= 0 && !strings.Contains(text[open:], "}") {
		text = strings.TrimSuffix(strings.TrimSuffix(text[:open], "p"), "P")
	} else if n := len(text); n > 0 && (text[n-1] == 'p' || text[n-1] == 'P') {
		return inEscape(text[:n-1])
	}
	slashes := len(text) - len(strings.TrimRight(text, `\`))
	return slashes%2 == 1
}

// explain turns an error of regexp/syntax into one that says what to do.
func explain(err error, expr string) error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return err
	}
	advice := "for plain text set literal"
	switch se.Code {
	case syntax.ErrInvalidPerlOp:
		if strings.HasPrefix(se.Expr, "(?=") || strings.HasPrefix(se.Expr, "(?!") || strings.HasPrefix(se.Expr, "(?<") {
			advice = "look-around is not supported: search for the part that must be there and filter the lines"
		}
	case syntax.ErrInvalidNamedCapture:
		if strings.HasPrefix(se.Expr, "(?<=") || strings.HasPrefix(se.Expr, "(?<!") {
			advice = "look-around is not supported: search for the part that must be there and filter the lines"
		}
	case syntax.ErrInvalidEscape:
		if len(se.Expr) == 2 && '1' <= se.Expr[1] && se.Expr[1] <= '9' {
			advice = "back-references are not supported"
		} else {
			advice = "escape only what has a meaning, such as \\. or \\(; for plain text set literal"
		}
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		advice = `write \( and \) for parentheses that stand for themselves, or set literal`
	case syntax.ErrMissingBracket:
		advice = `write \[ for a bracket that stands for itself, or set literal`
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		advice = `write \* \+ \? for characters that stand for themselves, or set literal`
	case syntax.ErrInvalidRepeatSize, syntax.ErrLarge, syntax.ErrNestingDepth:
		advice = "a count is at most 1000, and counts multiply; use smaller ones"
	case syntax.ErrInvalidUTF8:
		return errors.New("the pattern is not valid UTF-8")
	}
	return fmt.Errorf("the pattern is not a valid regular expression (RE2 syntax): %s: `%s`; %s", se.Code, clip(se.Expr), advice)
}

// clip keeps an echoed piece of pattern short.
func clip(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "…"
}
