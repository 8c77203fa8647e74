package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestHostileLinesAreCheap holds that what rewrites a long line costs no more
// than a small multiple of its length: the owner of a command reads it all.
func TestHostileLinesAreCheap(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for name, piece := range map[string]string{
		"delete characters":    long[:maxLine-1] + "\x1b[G" + "\x1b[65535P",
		"delete one by one":    long[:maxLine-1] + "\x1b[G" + strings.Repeat("\x1b[1P", 16<<10),
		"wider over narrower":  long[:maxLine-1] + "\r" + strings.Repeat("é", 30<<10),
		"narrower over wider":  strings.Repeat("é", 30<<10) + "\r" + long[:30<<10],
		"backspace and write":  long[:maxLine-1] + strings.Repeat("\b\x1b[D", 16<<10) + long[:16<<10],
		"move and erase again": long[:maxLine-1] + strings.Repeat("\x1b[G\x1b[60000C", 200),
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFilter(func([]byte) {})
			data := bytes.Repeat([]byte(piece+"\n"), max(1, (1<<20)/len(piece)))
			began := time.Now()
			_, _ = f.Write(data)
			t.Logf("%d bytes in %v", len(data), time.Since(began))
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%d bytes took %v", len(data), took)
			}
		})
	}
}

// TestHostileScreensAreCheap holds the same for a screen of the largest size. A
// pipe still holds 64 KiB when its command was killed, eight times as much.
func TestHostileScreensAreCheap(t *testing.T) {
	for name, piece := range map[string]string{
		"erase":          "\x1b[2J",
		"erase below":    "\x1b[H\x1b[J",
		"erase a line":   "\x1b[2K",
		"insert lines":   "\x1b[H\x1b[L",
		"insert many":    "\x1b[H\x1b[500L",
		"delete lines":   "\x1b[H\x1b[500M",
		"scroll":         "\x1b[24S",
		"scroll back":    "\x1b[500T",
		"new lines":      "\x1b[500;1H\n",
		"insert cells":   "\x1b[G\x1b[1000@",
		"delete cells":   "\x1b[G\x1b[1000P",
		"other page":     "\x1b[?1049h\x1b[?1049l",
		"repeat":         "x\x1b[65535b",
		"reset":          "\x1bc",
		"align":          "\x1b#8",
		"ask":            "\x1b[6n",
		"full lines":     strings.Repeat("x", 1000) + "\n",
		"tabs":           "\x1b[G\x1b[65535I",
		"many at a time": "\x1b[J\x1b[2J\x1b[1J",
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScreen(MaxRows, MaxColumns)
			data := []byte(strings.Repeat(piece, (8<<10)/len(piece)))
			began := time.Now()
			_, _ = s.Write(data)
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("%d bytes took %v", len(data), took)
			}
		})
	}
}
