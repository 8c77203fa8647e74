package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
)

// block is how much is read at once, in bytes: large enough that a read costs
// little beside looking at it, small enough to stay in the cache.
const block = 64 << 10

// Window returns the bytes of c from one offset to another. What lies
// outside of c is left out.
func (c *Content) Window(from, to int64) (string, error) {
	from, to = max(from, 0), min(to, c.Size)
	if from >= to {
		return "", nil
	}
	var sb strings.Builder
	sb.Grow(int(to - from))
	if n, err := io.Copy(&sb, io.NewSectionReader(c, from, to-from)); err != nil || n != to-from {
		return "", fmt.Errorf("reading bytes %d to %d: %w", from, to, cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return sb.String(), nil
}

// LineOffset returns where line n begins, counted from 1, or Size where there
// are fewer lines. It reads from the start, a block at a time.
func (c *Content) LineOffset(ctx context.Context, n int) (int64, error) {
	buf := make([]byte, block)
	left := n - 1 // newlines to pass
	for at := int64(0); left > 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := c.fill(buf, at)
		if err != nil || got == 0 {
			return c.Size, err
		}
		here := bytes.Count(buf[:got], newline)
		if here < left {
			left -= here
			at += int64(got)
			continue
		}
		end := 0
		for range left {
			end += bytes.IndexByte(buf[end:got], '\n') + 1
		}
		return at + int64(end), nil
	}
	return 0, nil
}

// TailOffset returns where the last n lines begin. It reads from the end.
func (c *Content) TailOffset(ctx context.Context, n int) (int64, error) {
	buf := make([]byte, block)
	left := n + 1 // newlines to find, the one that ends the last line included
	if last, err := c.Window(c.Size-1, c.Size); err != nil {
		return 0, err
	} else if last != "\n" {
		left--
	}
	for end := c.Size; end > 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		at := max(0, end-block)
		got, err := c.fill(buf[:end-at], at)
		if err != nil {
			return 0, err
		}
		if here := bytes.Count(buf[:got], newline); here < left {
			left -= here
			end = at
			continue
		}
		i := got
		for range left {
			i = bytes.LastIndexByte(buf[:i], '\n')
		}
		return at + int64(i) + 1, nil
	}
	return 0, nil
}

// LineAt returns the number of the line, counted from 1, that the byte at
// that offset lies in.
func (c *Content) LineAt(ctx context.Context, offset int64) (int, error) {
	buf := make([]byte, block)
	line := 1
	for at := int64(0); at < offset; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := c.fill(buf[:min(block, offset-at)], at)
		if err != nil || got == 0 {
			return line, err
		}
		line += bytes.Count(buf[:got], newline)
		at += int64(got)
	}
	return line, nil
}

// NextLine returns where the line begins that follows the one which the byte
// at that offset lies in, or Size where it is the last.
func (c *Content) NextLine(ctx context.Context, offset int64) (int64, error) {
	buf := make([]byte, block)
	for at := offset; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := c.fill(buf, at)
		if err != nil || got == 0 {
			return c.Size, err
		}
		if i := bytes.IndexByte(buf[:got], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(got)
	}
}

var newline = []byte{'\n'}

// fill reads into buf from that offset; at the end it returns less.
func (c *Content) fill(buf []byte, at int64) (int, error) {
	n, err := c.ReadAt(buf, at)
	if err == io.EOF {
		err = nil
	}
	return n, err
}
