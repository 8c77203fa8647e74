package output

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// builtinMatcher is built at the first use: most calls of a short command
// never need it.
var builtinMatcher = sync.OnceValue(func() *matcher { return newMatcher(builtinRules()) })

func builtinRules() []rule {
	var rules []rule
	for _, t := range tokens {
		rules = append(rules, rule{anchor: t.prefix, match: t.match})
	}
	rules = append(rules,
		rule{anchor: "eyJ", match: matchJWT},
		rule{anchor: "-----BEGIN ", match: matchPEM},
		rule{anchor: "bearer ", fold: true, match: matchBearer},
		rule{anchor: "basic ", fold: true, match: matchBasic},
		rule{anchor: "://", match: matchURLPassword},
		rule{anchor: ";base64,", match: matchDataURL},
	)
	for _, word := range credentialWords {
		rules = append(rules, rule{anchor: word, fold: true, match: func(s string, at int) (finding, bool) {
			return matchAssignment(s, at, at+len(word))
		}})
	}
	return rules
}

// token is a secret that its issuer made recognisable by a prefix.
type token struct {
	prefix, kind string
	chars        string // beside letters and digits
	min, max     int    // how many characters follow the prefix
	digit        bool   // whether there must be a digit among them
}

// tokens are the forms that the issuers document, or that the open rule sets
// of secret scanners agree on. A longer prefix stands before a shorter one.
var tokens = []token{
	{"sk-ant-", "Anthropic key", "-_", 20, 200, false},
	{"sk-proj-", "OpenAI key", "-_", 20, 300, false},
	{"sk-svcacct-", "OpenAI key", "-_", 20, 300, false},
	{"sk-admin-", "OpenAI key", "-_", 20, 300, false},
	{"sk-or-v1-", "OpenRouter key", "", 32, 128, false},
	{"sk-", "OpenAI key", "-_", 20, 200, true},
	{"AKIA", "AWS access key id", "", 16, 16, false},
	{"ASIA", "AWS access key id", "", 16, 16, false},
	{"ghp_", "GitHub token", "", 36, 255, false},
	{"gho_", "GitHub token", "", 36, 255, false},
	{"ghu_", "GitHub token", "", 36, 255, false},
	{"ghs_", "GitHub token", "", 36, 255, false},
	{"ghr_", "GitHub token", "", 36, 255, false},
	{"github_pat_", "GitHub token", "_", 22, 255, false},
	{"glpat-", "GitLab token", "-_.", 20, 255, false},
	{"gldt-", "GitLab token", "-_", 20, 64, false},
	{"glptt-", "GitLab token", "-_", 20, 64, false},
	{"glrt-", "GitLab token", "-_.", 20, 64, false},
	{"xoxb-", "Slack token", "-", 10, 255, true},
	{"xoxp-", "Slack token", "-", 10, 255, true},
	{"xoxa-", "Slack token", "-", 10, 255, true},
	{"xoxr-", "Slack token", "-", 10, 255, true},
	{"xoxs-", "Slack token", "-", 10, 255, true},
	{"xoxe-", "Slack token", "-", 10, 255, true},
	{"xapp-", "Slack token", "-", 10, 255, true},
	{"hooks.slack.com/services/", "Slack webhook", "/", 30, 100, false},
	{"AIza", "Google API key", "-_", 35, 35, false},
	{"ya29.", "Google token", "-_", 20, 512, false},
	{"GOCSPX-", "Google client secret", "-_", 28, 28, false},
	{"sk_live_", "Stripe key", "", 10, 255, false},
	{"sk_test_", "Stripe key", "", 10, 255, false},
	{"rk_live_", "Stripe key", "", 10, 255, false},
	{"rk_test_", "Stripe key", "", 10, 255, false},
	{"whsec_", "webhook secret", "+/", 24, 255, false},
	{"npm_", "npm token", "", 36, 36, false},
	{"pypi-AgE", "PyPI token", "-_", 50, 512, false},
	{"hf_", "Hugging Face token", "", 34, 64, false},
	{"dop_v1_", "DigitalOcean token", "", 64, 64, false},
	{"SG.", "SendGrid key", "-_.", 60, 80, false},
	{"hvs.", "Vault token", "-_", 24, 255, false},
	{"gsk_", "Groq key", "", 40, 128, false},
	{"xai-", "xAI key", "", 40, 128, false},
	{"AGE-SECRET-KEY-1", "age key", "", 58, 58, false},
}

func (t token) match(s string, at int) (finding, bool) {
	// A neighbour that the token itself could hold means that this is the
	// middle of something longer. It also keeps a row of prefixes from being
	// looked at from each of them.
	if at > 0 && t.holds(s[at-1]) {
		return finding{}, false
	}
	end, digit := at+len(t.prefix), false
	for end < len(s) && t.holds(s[end]) {
		digit = digit || isDigit(s[end])
		end++
	}
	// Sentence punctuation after a token is not part of it.
	for end > at+len(t.prefix) && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	n := end - at - len(t.prefix)
	if n < t.min || n > t.max || t.digit && !digit {
		return finding{}, false
	}
	return finding{at, end, t.kind, isForm}, true
}

func (t token) holds(b byte) bool { return isAlnum(b) || strings.IndexByte(t.chars, b) >= 0 }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isAlnum(b byte) bool { return isDigit(b) || isLetter(b) }

func isBase64(b byte) bool {
	return isAlnum(b) || b == '+' || b == '/' || b == '-' || b == '_' || b == '='
}

// run returns the end of the row of bytes from i on that ok accepts, at
// most limit of them.
func run(s string, i, limit int, ok func(byte) bool) int {
	end := min(len(s), i+limit)
	for i < end && ok(s[i]) {
		i++
	}
	return i
}

// matchJWT finds a JSON Web Token: two objects and a signature.
func matchJWT(s string, at int) (finding, bool) {
	const least = 10
	inToken := func(b byte) bool { return isAlnum(b) || b == '-' || b == '_' }
	if at > 0 && (inToken(s[at-1]) || s[at-1] == '.') {
		return finding{}, false
	}
	end := at
	for part := range 3 {
		stop := run(s, end, len(s), inToken)
		if stop-end < least || part < 2 && (stop == len(s) || s[stop] != '.') {
			return finding{}, false
		}
		end = stop + 1
	}
	return finding{at, end - 1, "JSON Web Token", isForm}, true
}

// MaxSecret bounds the longest kind of secret that is known by its form, in
// bytes: a private key. An RSA key of 16,384 bits has 12.7 KB in PEM.
const MaxSecret = 16 << 10

const pemTail = "-----END "

// matchPEM finds a private key. One whose end is missing reaches as far as
// lines that could be part of it do.
func matchPEM(s string, at int) (finding, bool) {
	const dashes = "-----"
	label, _, ok := strings.Cut(s[at+len("-----BEGIN "):min(len(s), at+80)], dashes)
	if !ok || !strings.HasSuffix(label, "PRIVATE KEY") && !strings.HasSuffix(label, "PRIVATE KEY BLOCK") {
		return finding{}, false
	}
	body := at + len("-----BEGIN ") + len(label) + len(dashes)
	window := s[body:min(len(s), at+MaxSecret-128)]
	if i := strings.Index(window, pemTail); i >= 0 {
		if j := strings.Index(window[i+len(pemTail):], dashes); j >= 0 && j < 80 {
			return finding{at, body + i + len(pemTail) + j + len(dashes), "private key", isForm}, true
		}
	}
	end := run(s, body, MaxSecret-128, func(b byte) bool { return isBase64(b) || strings.IndexByte("\r\n\\ :,", b) >= 0 })
	return finding{at, end, "private key", isForm}, true
}

// matchBearer finds the token of an Authorization header.
func matchBearer(s string, at int) (finding, bool) {
	start := at + len("bearer ")
	end := run(s, start, 4096, func(b byte) bool { return isBase64(b) || b == '.' || b == '~' })
	for end > start && s[end-1] == '.' { // the end of a sentence
		end--
	}
	if end-start < 16 || !hasDigit(s[start:end]) || at > 0 && isAlnum(s[at-1]) {
		return finding{}, false
	}
	return finding{start, end, "bearer token", isForm}, true
}

// matchBasic finds a user name and password in an Authorization header.
func matchBasic(s string, at int) (finding, bool) {
	start := at + len("basic ")
	end := run(s, start, 1024, isBase64)
	plain, err := base64.StdEncoding.DecodeString(s[start:end])
	if err != nil || len(plain) < 4 || slices.Index(plain, ':') < 0 || !printable(plain) {
		return finding{}, false
	}
	return finding{start, end, "basic credentials", isForm}, true
}

func printable(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < 0x20 || c == 0x7f })
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

// matchURLPassword finds the password in scheme://user:password@host.
func matchURLPassword(s string, at int) (finding, bool) {
	const least = 4
	start := at + len("://")
	end := run(s, start, 256, func(b byte) bool { return b > ' ' && b < 0x7f && strings.IndexByte("/\"'`<>[]", b) < 0 })
	host := strings.LastIndexByte(s[start:end], '@')
	if at == 0 || !isAlnum(s[at-1]) || host < 0 {
		return finding{}, false
	}
	user, password, ok := strings.Cut(s[start:start+host], ":")
	if !ok || len(password) < least || isStandIn(password) {
		return finding{}, false
	}
	return finding{start + len(user) + 1, start + host, "password in a URL", isForm}, true
}

// minData is the shortest run of encoded data that is left out, in
// characters. It is what octos leaves out.
const minData = 64

// matchDataURL finds the data of a data URL, and keeps its media type.
func matchDataURL(s string, at int) (finding, bool) {
	const scheme = "data:"
	head := s[max(0, at-128):at]
	i := strings.LastIndex(head, scheme)
	if i < 0 || strings.ContainsAny(head[i:], " \n\t\"'()<>") {
		return finding{}, false
	}
	start := at + len(";base64,")
	end := run(s, start, len(s), isBase64)
	if end-start < minData {
		return finding{}, false
	}
	return finding{start, end, "base64 data", isData}, true
}

// knownRule finds a registered value.
func knownRule(name, value string) rule {
	return rule{anchor: value, known: true, match: func(_ string, at int) (finding, bool) {
		return finding{at, at + len(value), "the secret " + name, isKnown}, true
	}}
}

// minSecretLine is the shortest line of a longer secret that is told from
// ordinary text, in bytes.
const minSecretLine = 2 * MinSecret

// secretLines returns the lines of a value of several lines, as a tool that
// numbers lines shows them one by one. The rulers of a PEM block are no
// secret.
func secretLines(value string) []string {
	if !strings.Contains(value, "\n") {
		return nil
	}
	var lines []string
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		if len(line) >= minSecretLine && !strings.HasPrefix(line, "-----") {
			lines = append(lines, line)
		}
	}
	return lines
}

// encodings returns value and the forms that it takes inside of a URL, a
// JSON string, or an encoded header.
func encodings(value string) []string {
	quoted, _ := json.Marshal(value) // a string cannot fail
	forms := []string{
		value,
		strings.Trim(string(quoted), `"`),
		url.QueryEscape(value),
		url.PathEscape(value),
		base64.RawStdEncoding.EncodeToString([]byte(value)),
		base64.RawURLEncoding.EncodeToString([]byte(value)),
		hex.EncodeToString([]byte(value)),
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}
