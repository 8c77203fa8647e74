package pdftext

import (
	"cmp"
	"slices"
)

// A cmap maps the codes of a font to text.
type cmap struct {
	spaces []codeSpace
	chars  map[uint32]string
	ranges []codeRange
}

// A codeSpace says how many bytes the codes in a range have.
type codeSpace struct {
	length    int
	low, high uint32
}

// A codeRange maps codes in a row to texts whose last character counts up.
type codeRange struct {
	low, high uint32
	to        text // UTF-16 of low
}

// maxMapped is how many entries of a map are read.
const maxMapped = 1 << 17

// parseCMap reads the program of a map.
func (d *Document) parseCMap(data []byte) *cmap {
	m := &cmap{chars: map[uint32]string{}}
	l := lexer{d: d, data: data}
	var args []object
	for {
		switch v := l.next(0).(type) {
		case end:
			slices.SortStableFunc(m.ranges, func(a, b codeRange) int { return cmp.Compare(a.low, b.low) })
			return m
		case operator:
			switch v {
			case "endcodespacerange":
				m.addSpaces(args)
			case "endbfchar":
				m.addChars(args)
			case "endbfrange":
				m.addRanges(args)
			}
			args = args[:0]
		default:
			if len(args) < maxMapped {
				args = append(args, v)
			}
		}
	}
}

func (m *cmap) addSpaces(args []object) {
	for i := 0; i+1 < len(args) && len(m.spaces) < 100; i += 2 {
		low, ok1 := args[i].(text)
		high, ok2 := args[i+1].(text)
		if ok1 && ok2 && len(low) > 0 && len(low) <= 4 && len(low) == len(high) {
			m.spaces = append(m.spaces, codeSpace{len(low), number(low), number(high)})
		}
	}
}

func (m *cmap) addChars(args []object) {
	for i := 0; i+1 < len(args) && len(m.chars) < maxMapped; i += 2 {
		from, ok1 := args[i].(text)
		to, ok2 := args[i+1].(text)
		if ok1 && ok2 && len(from) <= 4 && len(to) <= 64 {
			m.chars[number(from)] = utf16Text([]byte(to))
		}
	}
}

func (m *cmap) addRanges(args []object) {
	for i := 0; i+2 < len(args) && len(m.ranges) < maxMapped; i += 3 {
		low, ok1 := args[i].(text)
		high, ok2 := args[i+1].(text)
		if !ok1 || !ok2 || len(low) > 4 || len(high) > 4 {
			continue
		}
		switch to := args[i+2].(type) {
		case text:
			if len(to) >= 2 && len(to) <= 64 {
				m.ranges = append(m.ranges, codeRange{number(low), number(high), to})
			}
		case array:
			for j, one := range to {
				if s, ok := one.(text); ok && len(s) <= 64 && len(m.chars) < maxMapped {
					m.chars[number(low)+uint32(j)] = utf16Text([]byte(s))
				}
			}
		}
	}
}

// length returns how many bytes the first code of a string has, 0 where no
// space tells.
func (m *cmap) length(codes text) int {
	for n := 1; n <= min(4, len(codes)); n++ {
		code := number(codes[:n])
		for _, s := range m.spaces {
			if s.length == n && code >= s.low && code <= s.high {
				return n
			}
		}
	}
	return 0
}

// lookUp returns what a code means, or "".
func (m *cmap) lookUp(code uint32) string {
	if s, ok := m.chars[code]; ok {
		return s
	}
	i, found := slices.BinarySearchFunc(m.ranges, code, func(r codeRange, c uint32) int { return cmp.Compare(r.low, c) })
	if !found {
		i--
	}
	if i < 0 || code > m.ranges[i].high {
		return ""
	}
	r := m.ranges[i]
	to := []byte(r.to)
	last := uint32(to[len(to)-2])<<8 | uint32(to[len(to)-1])
	last += code - r.low
	to[len(to)-2], to[len(to)-1] = byte(last>>8), byte(last)
	return utf16Text(to)
}
