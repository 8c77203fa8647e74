package shellparse

import (
	"strings"
	"unicode/utf8"
)

// sedReads reports whether one line of a script of sed only edits what is
// printed. What it does not know, a file that is read included, is a no.
func sedReads(line string) bool {
	s := strings.TrimLeft(line, " \t;{}")
	for s != "" {
		var ok bool
		if s, ok = sedAddress(s); !ok || s == "" {
			return false
		}
		command := s[0]
		s = s[1:]
		switch {
		case strings.IndexByte("pdnNgGhHxDPz=F", command) >= 0:
		case strings.IndexByte("qQlL", command) >= 0:
			s = strings.TrimLeft(s, "0123456789 ")
		case command == 's' || command == 'y':
			if s, ok = sedParts(s); !ok {
				return false
			}
			if command == 's' {
				s = strings.TrimLeft(s, "gpiImM0123456789")
			}
		case command == 'b' || command == 't' || command == 'T' || command == ':':
			if end := strings.IndexAny(s, ";}"); end >= 0 {
				s = s[end:]
			} else {
				s = ""
			}
		case strings.IndexByte("aic#", command) >= 0:
			return true
		default:
			return false
		}
		s = strings.TrimLeft(s, " \t")
		if s != "" && s[0] != ';' && s[0] != '}' && s[0] != '#' {
			return false
		}
		s = strings.TrimLeft(s, " \t;}{")
	}
	return true
}

// sedAddress skips what stands in front of a command.
func sedAddress(s string) (string, bool) {
	for {
		s = strings.TrimLeft(s, " \t")
		switch {
		case s == "":
			return "", false
		case strings.IndexByte("0123456789$,~+!{", s[0]) >= 0:
			s = s[1:]
		case s[0] == '/' || s[0] == '\\':
			if s[0] == '\\' {
				s = s[1:]
			}
			if len(s) < 2 {
				return "", false
			}
			end := delimited(s[1:], s[0])
			if end < 0 {
				return "", false
			}
			s = strings.TrimLeft(s[1+end+1:], "IM")
		default:
			return s, true
		}
	}
}

// sedParts skips both halves of s/a/b/ behind its letter.
func sedParts(s string) (string, bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' {
		return "", false
	}
	sep := s[0]
	s = s[1:]
	for range 2 {
		end := delimited(s, sep)
		if end < 0 {
			return "", false
		}
		s = s[end+1:]
	}
	return s, true
}

// delimited returns where the next separator stands that is neither escaped
// nor in a bracket, about which implementations disagree.
func delimited(s string, sep byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if end := strings.IndexByte(s[i:], ']'); end > 0 && strings.IndexByte(s[i:i+end], sep) >= 0 {
				return -1
			}
		case sep:
			return i
		}
	}
	return -1
}

// awkActs are the words of awk that start a program, read a file or a host,
// or load code.
var awkActs = []string{"system", "getline", "close", "fflush", "load", "include"}

// awkReads reports whether a program of awk only reads its input and prints.
func awkReads(code string) bool {
	printing, last := false, byte(';')
	for i := 0; i < len(code); i++ {
		b := code[i]
		switch {
		case b == '"':
			end := delimitedPlain(code[i+1:], '"')
			if end < 0 {
				return false
			}
			i += end + 1
		case b == '/' && strings.IndexByte("(,{};!~&|\n=?:", last) >= 0:
			end := delimitedPlain(code[i+1:], '/')
			if end < 0 {
				return false
			}
			i += end + 1
		case b == '#':
			if end := strings.IndexByte(code[i:], '\n'); end >= 0 {
				i += end - 1
			} else {
				return true
			}
		case b == '|' && i+1 < len(code) && code[i+1] == '|':
			i++
		case b == '|' || b == '@' || b == '\\' || b == '>' && printing:
			return false
		case b == ';' || b == '{' || b == '}' || b == '\n':
			printing = false
		case letter(b):
			end := i
			for end < len(code) && (letter(code[end]) || code[end] >= '0' && code[end] <= '9') {
				end++
			}
			word := code[i:end]
			for _, act := range awkActs {
				if word == act {
					return false
				}
			}
			printing = printing || word == "print" || word == "printf"
			i = end - 1
		}
		if b != ' ' && b != '\t' {
			last = code[min(i, len(code)-1)]
			if b == '"' {
				last = '"'
			}
		}
	}
	return true
}

func letter(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' }

// delimitedPlain returns where the next separator stands that is not escaped.
func delimitedPlain(s string, sep byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case sep:
			return i
		}
	}
	return -1
}

// starters are words by which programs in other languages run programs, or
// build text that they run.
var starters = []string{
	"system", "exec", "popen", "spawn", "subprocess", "child_process", "process", "shell", "run", "command", "eval", "import", "require",
	"`", "|", "!", "fork", "os.", "open", "chr", "decode", "load", "compile", "getattr", "base64", "send", "do ", "source", "%x", "backtick", "pipe", "job", "term", "edit",
}

// mayStart reports whether code could start a program whose name does not
// stand in it.
func mayStart(code string) bool {
	low := strings.ToLower(code)
	for _, s := range starters {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// names returns the words of code that could be names of programs, folded.
func names(code string) []string {
	code = strings.ToLower(code)
	return strings.FieldsFunc(code, func(r rune) bool {
		return r < utf8.RuneSelf && !letter(byte(r)) && (r < '0' || r > '9') && r != '-' && r != '.' && r != '+'
	})
}
