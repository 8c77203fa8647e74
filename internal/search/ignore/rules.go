package ignore

import (
	"bytes"
	"strings"
)

// Verdict is what rules say of one path.
type Verdict int8

const (
	// None means that no rule matches.
	None Verdict = iota
	// Drop means that the last rule which matches leaves the path out.
	Drop
	// Keep means that the last rule which matches takes the path back in.
	Keep
)

// MaxFile is the largest ignore file that is read, in bytes. The biggest
// published template is under 20 KB; a file beyond this is no list of rules.
const MaxFile = 1 << 20

// Rules are the rules of one ignore file. They never change after [Parse]
// and may be used from several goroutines at once.
//
// Most rules of real files are a plain name or "*.ext". These two kinds are
// looked up in a map, so the cost of a path does not grow with their number.
type Rules struct {
	rules []rule
	byNam map[string][]int32 // a plain name, at any depth
	byExt map[string][]int32 // "*.x", at any depth, by x
	rest  []int32            // every other rule, in order
}

// rule is one line of an ignore file.
type rule struct {
	verdict Verdict
	dirOnly bool // the line ends in a slash
	whole   bool // the line has a slash inside: it is matched against the whole path
	prefix  string
	glob    string // what follows prefix, from its first special byte on
}

// Parse reads an ignore file. It returns nil where the file has no rule that
// could ever match. Anything is a valid file: a line that cannot match, such
// as one with an unclosed class, is dropped, as git does.
func Parse(data []byte) *Rules {
	r := &Rules{}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		// To git a line is a C string.
		if i := strings.IndexByte(line, 0); i >= 0 {
			line = line[:i]
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		if one, ok := parseLine(trimSpaces(line)); ok {
			r.add(one)
		}
	}
	if len(r.rules) == 0 {
		return nil
	}
	return r
}

// trimSpaces drops the spaces at the end of a line, up to the last one that
// a backslash protects. Only spaces count, not tabs.
func trimSpaces(s string) string {
	end := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if end < 0 {
				end = i
			}
		case '\\':
			i++
			if i == len(s) {
				return s
			}
			end = -1
		default:
			end = -1
		}
	}
	if end < 0 {
		return s
	}
	return s[:end]
}

func parseLine(s string) (rule, bool) {
	r := rule{verdict: Drop}
	if rest, ok := strings.CutPrefix(s, "!"); ok {
		r.verdict, s = Keep, rest
	}
	s, r.dirOnly = strings.CutSuffix(s, "/")
	r.whole = strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	if s == "" || !wellFormed(s) {
		return rule{}, false
	}
	// git compares the part before the first special byte on its own and
	// matches only what follows as a glob. The cut shows: "a**/b" becomes
	// "**/b" after an "a".
	cut := strings.IndexAny(s, `*?[\`)
	if cut < 0 {
		cut = len(s)
	}
	r.prefix, r.glob = s[:cut], s[cut:]
	return r, true
}

func (r *Rules) add(one rule) {
	i := int32(len(r.rules))
	r.rules = append(r.rules, one)
	ext, isExt := strings.CutPrefix(one.glob, "*.")
	switch {
	case one.whole:
		r.rest = append(r.rest, i)
	case one.glob == "":
		if r.byNam == nil {
			r.byNam = map[string][]int32{}
		}
		r.byNam[one.prefix] = append(r.byNam[one.prefix], i)
	case one.prefix == "" && isExt && !strings.ContainsAny(ext, `*?[\.`):
		if r.byExt == nil {
			r.byExt = map[string][]int32{}
		}
		r.byExt[ext] = append(r.byExt[ext], i)
	default:
		r.rest = append(r.rest, i)
	}
}

// Match says what the rules make of path, which is relative to the folder
// that holds the ignore file, with slashes and without a final one. It does
// not look at the folders above path: a path in a dropped folder is dropped
// whatever the rules say of it.
func (r *Rules) Match(path []byte, dir bool) Verdict {
	if r == nil {
		return None
	}
	base := path[bytes.LastIndexByte(path, '/')+1:]
	best := int32(-1)
	if r.byNam != nil {
		best = r.latest(r.byNam[string(base)], dir, best)
	}
	if r.byExt != nil {
		if dot := bytes.LastIndexByte(base, '.'); dot >= 0 {
			best = r.latest(r.byExt[string(base[dot+1:])], dir, best)
		}
	}
	for j := len(r.rest) - 1; j >= 0 && r.rest[j] > best; j-- {
		one := &r.rules[r.rest[j]]
		if one.dirOnly && !dir {
			continue
		}
		if one.match(path, base) {
			best = r.rest[j]
		}
	}
	if best < 0 {
		return None
	}
	return r.rules[best].verdict
}

// latest returns the last of the given rules that applies, or best.
func (r *Rules) latest(list []int32, dir bool, best int32) int32 {
	for j := len(list) - 1; j >= 0 && list[j] > best; j-- {
		if dir || !r.rules[list[j]].dirOnly {
			return list[j]
		}
	}
	return best
}

func (r *rule) match(path, base []byte) bool {
	text := base
	if r.whole {
		text = path
	}
	if len(text) < len(r.prefix) || string(text[:len(r.prefix)]) != r.prefix {
		return false
	}
	return wild(r.glob, text[len(r.prefix):])
}
