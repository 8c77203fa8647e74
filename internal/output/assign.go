package output

import "strings"

// credentialWords end the names of settings that hold a secret. They are
// matched without regard to case.
var credentialWords = []string{
	"password", "passwd", "passphrase", "_pwd", "secret", "token", "api_key", "apikey", "api-key",
	"access_key", "accesskey", "access-key", "private_key", "privatekey", "secret_key", "secretkey", "secret-key",
	"account_key", "accountkey", "signing_key", "encryption_key", "auth_key", "authkey", "credential", "_pass",
}

// minCredential is the shortest value of a setting that counts as a secret,
// in bytes, as in octos.
const minCredential = 8

// maxCredential bounds the value that is looked at, in bytes.
const maxCredential = 512

// matchAssignment finds the value that is given to a setting whose name
// ends at s[end:], as in NAME=value, "name": "value", name: value and
// --name value.
//
// Ordinary code is full of such names. A value counts only if it looks
// generated, and what is a variable, a call, a type, a path or a stand-in
// does not: the registered values are what must never pass, and for the
// rest a needless placeholder costs a model more than it protects.
func matchAssignment(s string, at, end int) (finding, bool) {
	start, strong, ok := valueStart(s, at, end)
	if !ok {
		return finding{}, false
	}
	var stop int
	if q := s[start-1]; isQuote(q) {
		strong = true
		stop = run(s, start, maxCredential, func(b byte) bool { return b != q && b != '\\' && b > ' ' })
		if stop == len(s) || s[stop] != q && s[stop] != '\\' {
			return finding{}, false
		}
	} else {
		stop = run(s, start, maxCredential, func(b byte) bool { return b > ' ' && b < 0x7f && strings.IndexByte("\"'`,;()[]{}<>&|", b) < 0 })
		if stop < len(s) && strings.IndexByte("([{<", s[stop]) >= 0 {
			return finding{}, false // a call, an index or a type
		}
	}
	for _, t := range tokens {
		if strings.HasPrefix(s[start:stop], t.prefix) {
			if f, ok := t.match(s, start); ok {
				return f, true
			}
		}
	}
	if !looksGenerated(s[start:stop], strong) {
		return finding{}, false
	}
	return finding{start, stop, "value of " + settingName(s, at, end), isForm}, true
}

// settingName returns the whole name that ends at s[end:], for the
// placeholder.
func settingName(s string, at, end int) string {
	for n := 0; at > 0 && n < 40 && (isAlnum(s[at-1]) || s[at-1] == '_' || s[at-1] == '-'); n++ {
		at--
	}
	return strings.TrimLeft(s[at:end], "-")
}

// valueStart returns where the value begins that is assigned to the name
// before s[end:]. It is strong if the assignment itself can hardly be code:
// NAME=value without spaces, in capitals, as in an environment.
func valueStart(s string, at, end int) (start int, strong, ok bool) {
	i := skipQuote(s, end)
	quoted := i > end
	i = run(s, i, 8, isBlank)
	blank := i > end && !quoted
	switch {
	case i < len(s) && s[i] == '=':
		i++
		if i < len(s) && (s[i] == '=' || s[i] == '~') { // a comparison
			return 0, false, false
		}
		if i < len(s) && s[i] == '>' {
			i++
		}
		strong = !blank && !quoted && isUpper(s[at]) && isUpper(s[end-1]) && i < len(s) && !isBlank(s[i])
	case i < len(s) && s[i] == ':':
		i++
		if i < len(s) && s[i] == ':' { // a path in a language
			return 0, false, false
		}
		if i < len(s) && s[i] == '=' {
			i++
		}
	case blank && isFlag(s, at):
		i = end + 1
	default:
		return 0, false, false
	}
	i = skipQuote(s, run(s, i, 8, isBlank))
	return i, strong, i < len(s)
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// skipQuote passes a quotation mark at s[i:], which is escaped where JSON
// stands inside of JSON.
func skipQuote(s string, i int) int {
	switch {
	case i < len(s) && isQuote(s[i]):
		return i + 1
	case i+1 < len(s) && s[i] == '\\' && isQuote(s[i+1]):
		return i + 2
	}
	return i
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }

// isFlag reports whether the name that holds s[at] begins with two dashes.
func isFlag(s string, at int) bool {
	for n := 0; at > 0 && n < 40 && (isAlnum(s[at-1]) || s[at-1] == '-'); n++ {
		at--
	}
	return strings.HasPrefix(s[at:], "--")
}

// standIns are the beginnings of values that stand for a secret without
// being one.
var standIns = []string{"your", "example", "change", "placeholder", "dummy", "redacted", "null", "none", "undefined", "true", "false", "xxx"}

// isStandIn reports whether v stands for a secret that is elsewhere: a
// variable, a template, a path, or a word that says so.
func isStandIn(v string) bool {
	if strings.ContainsAny(v, "${}<>") || strings.Contains(v, "***") || strings.Contains(v, "...") || strings.HasPrefix(v, "%") {
		return true
	}
	if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") || strings.Contains(v, "://") {
		return true
	}
	lower := strings.ToLower(v)
	for _, word := range standIns {
		if strings.HasPrefix(lower, word) {
			return true
		}
	}
	return false
}

// looksGenerated reports whether v could be a secret. In a strong place one
// digit or one unusual character is enough; elsewhere v must mix letters
// with several digits and have no dots, as a name in code would.
func looksGenerated(v string, strong bool) bool {
	if len(v) < minCredential || isStandIn(v) {
		return false
	}
	digits, letters, upper, dots, unusual := 0, 0, 0, 0, 0
	for i := range len(v) {
		switch b := v[i]; {
		case isDigit(b):
			digits++
		case isLetter(b):
			letters++
			if isUpper(b) {
				upper++
			}
		case b == '.':
			dots++
		case b == '_', b == '-', b == ':', b == '/', b == '\\', b == ' ':
		default:
			unusual++
		}
	}
	if !strong {
		return digits >= 2 && letters >= 2 && (dots == 0 || len(v) >= 20 && digits >= 4) && !isCamel(v)
	}
	return digits > 0 || unusual > 0 && letters > 0 || len(v) >= 20 && upper > 2 && upper < letters-2
}

// isCamel reports whether v is a name of several words with one number
// between two of them, such as testRSA2048Key.
func isCamel(v string) bool {
	start := strings.IndexAny(v, "0123456789")
	if start <= 0 {
		return false
	}
	end := run(v, start, len(v), isDigit)
	return end < len(v) && isUpper(v[end]) && run(v, 0, start, isLetter) == start && run(v, end, len(v), isLetter) == len(v)
}
