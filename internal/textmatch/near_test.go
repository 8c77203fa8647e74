package textmatch

import (
	"strings"
	"testing"
	"time"
)

// To say what is nearest must not cost more the more lines are alike.
func TestNearestAmongEqualLines(t *testing.T) {
	line := "aaaaaaaaaa\n"
	text := strings.Repeat(line, 200_000)
	took := func(lines int) time.Duration {
		best := time.Hour
		for range 3 {
			start := time.Now()
			if near, ok := Nearest(text, strings.Repeat(line, lines)+"b"); !ok || near.Line > 10 {
				t.Fatalf("%+v, %v", near, ok)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	if few, many := took(8), took(20_000); many > 5*few {
		t.Errorf("it took %v for 8 lines and %v for 20000", few, many)
	}
}
