package glob

import (
	"errors"
	"fmt"
)

// expand writes out the braces of a pattern: "a{b,c{d,e}}" is "ab", "acd"
// and "ace". A brace after a backslash or in a class stands for itself.
func expand(pattern string) ([]string, error) {
	open, commas, end, err := firstBraces(pattern)
	if err != nil {
		return nil, err
	}
	if open < 0 {
		return []string{pattern}, nil
	}
	var all []string
	begin := open + 1
	for _, stop := range append(commas, end) {
		some, err := expand(pattern[:open] + pattern[begin:stop] + pattern[end+1:])
		if err != nil {
			return nil, err
		}
		if all = append(all, some...); len(all) > maxAlternatives {
			return nil, fmt.Errorf("the braces of the glob stand for more than %d patterns; use a wildcard", maxAlternatives)
		}
		begin = stop + 1
	}
	return all, nil
}

// firstBraces returns the places of the first pair of braces and of the
// commas between its parts; open is -1 where there is none.
func firstBraces(pattern string) (open int, commas []int, end int, err error) {
	open, depth := -1, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			if _, width, err := readClass(pattern[i:]); err == nil {
				i += width - 1
			}
		case '{':
			if depth == 0 {
				open = i
			}
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				return 0, nil, 0, errors.New(`a "}" of the glob has no "{"; write \} for one that stands for itself`)
			}
			if depth--; depth == 0 {
				return open, commas, i, nil
			}
		}
	}
	if depth > 0 {
		return 0, nil, 0, errors.New(`a "{" of the glob is not closed; write \{ for one that stands for itself`)
	}
	return -1, nil, 0, nil
}
