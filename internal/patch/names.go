package patch

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const devNull = "/dev/null"

// timestamp is what diff -u puts after a name, where the tab between the two
// was lost.
var timestamp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( ?([+-]\d{2}:?\d{2}|Z))?$`)
})

// fileName reads what follows --- or +++.
func fileName(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return unquote(s)
	}
	s, _, _ = strings.Cut(s, "\t")
	if at := timestamp().FindStringIndex(s); at != nil {
		s = s[:at[0]]
	}
	if s = strings.TrimRight(s, " "); s == "" {
		return "", fmt.Errorf("the name of the file is missing")
	}
	return s, nil
}

// unquote reads a name that git has put in quotation marks.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return strings.TrimRight(s, " "), nil
	}
	name, rest, ok := cutQuoted(s)
	if !ok || strings.TrimSpace(rest) != "" && !strings.HasPrefix(rest, "\t") {
		return "", fmt.Errorf("%s is no name in quotation marks", quote(s))
	}
	return name, nil
}

// cutQuoted takes a name in quotation marks from the front of a text.
func cutQuoted(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] != '\\':
			b.WriteByte(s[i])
		case i+1 < len(s):
			i++
			if at := strings.IndexByte(`abtnvfr"\`, s[i]); at >= 0 {
				b.WriteByte("\a\b\t\n\v\f\r\"\\"[at])
				continue
			}
			if i+3 > len(s) {
				return "", "", false
			}
			n, err := strconv.ParseUint(s[i:i+3], 8, 8)
			if err != nil {
				return "", "", false
			}
			b.WriteByte(byte(n))
			i += 2
		}
	}
	return "", "", false
}

// gitNames takes the two names of a "diff --git" line apart. They serve
// where no other line names the file; then they are the same but for their
// prefixes, and only so they can be told apart. Else both are "".
func gitNames(s string) (old, new string) {
	s = strings.TrimRight(s, " ")
	if strings.HasPrefix(s, `"`) {
		first, rest, ok := cutQuoted(s)
		if !ok {
			return "", ""
		}
		second, err := unquote(strings.TrimPrefix(rest, " "))
		if err != nil {
			return "", ""
		}
		return first, second
	}
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' {
			continue
		}
		first, second := s[:i], s[i+1:]
		if strings.HasPrefix(second, `"`) {
			second, _ = unquote(second)
		}
		if a, b := stripPrefixes(first, second); a == b && a != "" {
			return first, second
		}
	}
	return "", ""
}

// prefixes are what git puts before the old and the new name: a/ and b/, or
// letters for what is compared (diff.mnemonicPrefix).
var prefixes = [][2]string{{"a/", "b/"}, {"i/", "w/"}, {"c/", "i/"}, {"c/", "w/"}, {"o/", "w/"}, {"old/", "new/"}}

// stripPrefixes takes the prefixes off the two names of a diff. Both have
// one, or the one that is there has a/ or b/; else they are as they are.
func stripPrefixes(old, new string) (string, string) {
	for i, p := range prefixes {
		o, oldOK := strings.CutPrefix(old, p[0])
		n, newOK := strings.CutPrefix(new, p[1])
		switch {
		case oldOK && newOK && (i == 0 || o == n):
			return o, n
		case i == 0 && oldOK && new == devNull:
			return o, new
		case i == 0 && newOK && old == devNull:
			return old, n
		}
	}
	return old, new
}

// backup reports whether a name is another with what is put after the name
// of a copy that is compared with it.
func backup(name, of string) bool {
	switch rest, ok := strings.CutPrefix(name, of); {
	case !ok:
		return false
	default:
		return rest == ".orig" || rest == ".old" || rest == ".bak" || rest == "~"
	}
}

// samePath reports whether two spellings may name one file: equal, or one
// the end of the other.
func samePath(a, b string) bool {
	a, b = "/"+strings.Trim(strings.TrimPrefix(a, "./"), "/"), "/"+strings.Trim(strings.TrimPrefix(b, "./"), "/")
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}
