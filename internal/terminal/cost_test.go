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
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("%d bytes took %v", len(data), took)
			}
		})
	}
}
