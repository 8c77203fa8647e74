package exec

import (
	"slices"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// keys are what a terminal of the kind xterm sends. Those that begin with
// ESC [ and a capital letter begin with ESC O where the program asked for
// that.
var keys = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"enter": "\r", "return": "\r", "tab": "\t", "esc": "\x1b", "escape": "\x1b", "space": " ", "backspace": "\x7f", "delete": "\x1b[3~",
		"insert": "\x1b[2~", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
		"page-up": "\x1b[5~", "page-down": "\x1b[6~", "shift-tab": "\x1b[Z",
		"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~", "f7": "\x1b[18~", "f8": "\x1b[19~",
		"f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
	}
})

// encodeKeys returns what is sent for keys. Every name that is unknown is
// reported.
func encodeKeys(names []string, application bool) (string, error) {
	var b strings.Builder
	var unknown []string
	for _, name := range names {
		code, ok := encodeKey(strings.ToLower(strings.ReplaceAll(name, "_", "-")))
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		if application && len(code) == 3 && strings.HasPrefix(code, "\x1b[") && strings.Contains("ABCDHF", code[2:]) {
			code = "\x1bO" + code[2:]
		}
		b.WriteString(code)
	}
	if unknown != nil {
		return "", unknownKeys(unknown)
	}
	return b.String(), nil
}

func encodeKey(name string) (string, bool) {
	if code, ok := keys()[name]; ok {
		return code, true
	}
	if rest, ok := strings.CutPrefix(name, "ctrl-"); ok && len(rest) == 1 {
		c := rest[0]
		switch {
		case c >= 'a' && c <= 'z':
			return string(rune(c - 'a' + 1)), true
		case strings.IndexByte("[\\]^_", c) >= 0:
			return string(rune(c - '@')), true
		case c == '@' || c == ' ':
			return "\x00", true
		}
		return "", false
	}
	if rest, ok := strings.CutPrefix(name, "alt-"); ok && len(rest) == 1 {
		return "\x1b" + rest, true
	}
	return "", false
}

func unknownKeys(unknown []string) error {
	names := make([]string, 0, len(keys()))
	for name := range keys() {
		names = append(names, name)
	}
	slices.Sort(names)
	text := ""
	for i, name := range unknown {
		if i > 0 {
			text += "; "
		}
		text += "there is no key " + tool.Clip(name)
		if near, ok := suggest.Nearest(name, names); ok {
			text += " (did you mean " + near + "?)"
		}
	}
	return tool.Invalidf("keys: %s. Keys are %s, ctrl- and a letter, alt- and a character; other text goes into chars.", text, strings.Join(names, ", "))
}
