package store

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func contentOf(text string) *Content {
	return &Content{ReaderAt: strings.NewReader(text), Size: int64(len(text))}
}

func TestContentFindsLines(t *testing.T) {
	texts := map[string]string{
		"empty":                 "",
		"one line":              "abc",
		"ended":                 "abc\n",
		"blank lines":           "\n\n\n",
		"no newline at the end": "a\nbb\nccc",
		"many":                  strings.Repeat("a line of some length\n", 20_000),
		"longer than a block":   strings.Repeat("x", 3*block) + "\n" + strings.Repeat("y", block) + "\nz",
		"ends with a block":     strings.Repeat("x", block-1) + "\n" + strings.Repeat("y", block-1) + "\n",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			c := contentOf(text)
			lines := strings.SplitAfter(text, "\n")
			if lines[len(lines)-1] == "" {
				lines = lines[:len(lines)-1]
			}
			offsets := []int64{0}
			for _, l := range lines {
				offsets = append(offsets, offsets[len(offsets)-1]+int64(len(l)))
			}
			step := len(lines)/50 + 1
			for n := 0; n < len(lines); n += step {
				if got, err := c.LineOffset(t.Context(), n+1); err != nil || got != offsets[n] {
					t.Errorf("line %d begins at %d, want %d: %v", n+1, got, offsets[n], err)
				}
				if got, err := c.LineAt(t.Context(), offsets[n]); err != nil || got != n+1 {
					t.Errorf("offset %d lies in line %d, want %d: %v", offsets[n], got, n+1, err)
				}
				if got, err := c.NextLine(t.Context(), offsets[n]); err != nil || got != offsets[n+1] {
					t.Errorf("line %d is followed at %d, want %d: %v", n+1, got, offsets[n+1], err)
				}
				if got, err := c.TailOffset(t.Context(), n+1); err != nil || got != offsets[len(lines)-n-1] {
					t.Errorf("the last %d lines begin at %d, want %d: %v", n+1, got, offsets[len(lines)-n-1], err)
				}
			}
			if got, err := c.LineOffset(t.Context(), len(lines)+5); err != nil || got != c.Size {
				t.Errorf("a line beyond the end begins at %d: %v", got, err)
			}
			if got, err := c.TailOffset(t.Context(), len(lines)+5); err != nil || got != 0 {
				t.Errorf("more lines than there are begin at %d: %v", got, err)
			}
		})
	}
}

func TestWindowStaysInside(t *testing.T) {
	c := contentOf("0123456789")
	for _, w := range []struct {
		from, to int64
		want     string
	}{{0, 10, "0123456789"}, {3, 5, "34"}, {-5, 2, "01"}, {8, 99, "89"}, {5, 5, ""}, {7, 3, ""}, {99, 100, ""}} {
		if got, err := c.Window(w.from, w.to); err != nil || got != w.want {
			t.Errorf("Window(%d, %d) = %q, %v", w.from, w.to, got, err)
		}
	}
}

func TestReadingLinesCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := contentOf(strings.Repeat("\n", 10))
	_, lineErr := c.LineOffset(ctx, 5)
	_, tailErr := c.TailOffset(ctx, 5)
	_, atErr := c.LineAt(ctx, 5)
	_, nextErr := c.NextLine(ctx, 5)
	for _, err := range []error{lineErr, tailErr, atErr, nextErr} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
