package shellparse

import (
	"strings"
	"unicode/utf8"
)

// ansiC decodes the inside of $'…' as bash does. It returns false for what
// ends the string early or is read differently by different shells.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abeEfnrtv\'"?`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		n, ok := ansiNumber(&b, s[i:])
		if !ok {
			return "", false
		}
		if n == 0 {
			b.WriteByte('\\')
			b.WriteByte(s[i])
			continue
		}
		i += n - 1
	}
	return b.String(), true
}

// ansiNumber decodes \nnn, \xHH, \uHHHH, \UHHHHHHHH and \cX, whose backslash
// is gone already, and returns how many bytes it took.
func ansiNumber(b *strings.Builder, s string) (int, bool) {
	digits := func(from, most, base int) (value, end int) {
		end = from
		for end < len(s) && end-from < most {
			d := strings.IndexByte("0123456789abcdef", s[end]|0x20)
			if s[end] >= '0' && s[end] <= '9' {
				d = int(s[end] - '0')
			}
			if d < 0 || d >= base {
				break
			}
			value = value*base + d
			end++
		}
		return value, end
	}
	switch s[0] {
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, end := digits(0, 3, 8)
		if v&0xff == 0 {
			return 0, false
		}
		b.WriteByte(byte(v))
		return end, true
	case 'x':
		v, end := digits(1, 2, 16)
		if v == 0 {
			return 0, false
		}
		b.WriteByte(byte(v))
		return end, true
	case 'u', 'U':
		most := 4
		if s[0] == 'U' {
			most = 8
		}
		v, end := digits(1, most, 16)
		if v == 0 || v > utf8.MaxRune {
			return 0, false
		}
		b.WriteRune(rune(v))
		return end, true
	case 'c':
		return 0, false
	}
	return 0, true
}
