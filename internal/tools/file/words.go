package file

import (
	"fmt"
	"strconv"
	"strings"
)

// words fills the {placeholders} of a tool's description with the limits
// that the code obeys. pairs are names and values by turns.
func words(text string, pairs ...any) string {
	fill := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		fill = append(fill, fmt.Sprintf("{%v}", pairs[i]), fmt.Sprint(pairs[i+1]))
	}
	return strings.TrimSpace(strings.NewReplacer(fill...).Replace(text))
}

// sizeOf writes a number of bytes for a reader.
func sizeOf(n int64) string {
	switch {
	case n < 1<<10:
		return plural(int(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
}

// plural writes a count with its noun: "1 line", "2 lines".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
