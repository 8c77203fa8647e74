package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// PutFrom is [Store.Put] for a text that is not held in memory: it is read
// from the start twice, and must be the same both times. Entry.Text must be
// empty. The result is durable when PutFrom returns.
func (s *Store) PutFrom(ctx context.Context, e Entry, text io.ReadSeeker) (id string, err error) {
	if err := s.enter(); err != nil {
		return "", err
	}
	defer s.life.RUnlock()
	if err := e.check(); err != nil {
		return "", err
	}
	if e.Text != "" {
		return "", errors.New("keeping a result: its text is given twice")
	}
	r := newRecord(&e)
	whole, lines, err := measure(ctx, text)
	if err != nil {
		return "", fmt.Errorf("keeping a result: %w", err)
	}
	r.Parts[0], r.Lines = whole, lines
	if whole.Size <= inline {
		data := make([]byte, whole.Size)
		if _, err := readFromStart(text, data); err != nil {
			return "", fmt.Errorf("keeping a result: %w", err)
		}
		r.Parts[0] = part{Size: whole.Size, text: string(data)}
	} else if err := s.blobs.putFrom(ctx, whole.Sum, text); err != nil {
		return "", fmt.Errorf("keeping a result: writing content: %w", err)
	}
	if err := s.write([]*record{r}); err != nil {
		return "", fmt.Errorf("keeping a result: %w", err)
	}
	s.start.Do(func() { go s.run() })
	signal(s.wake)
	return r.ID, nil
}

func readFromStart(from io.ReadSeeker, data []byte) (int, error) {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	return io.ReadFull(from, data)
}

// measure reads a text to its end.
func measure(ctx context.Context, text io.ReadSeeker) (p part, lines int, err error) {
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return p, 0, err
	}
	h := sha256.New()
	buf := make([]byte, block)
	last := byte('\n')
	for {
		if err := ctx.Err(); err != nil {
			return p, 0, err
		}
		n, err := text.Read(buf)
		if n > 0 {
			h.Write(buf[:n])
			p.Size += int64(n)
			lines += bytes.Count(buf[:n], newline)
			last = buf[n-1]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return p, 0, err
		}
	}
	if last != '\n' {
		lines++
	}
	p.Sum = hex.EncodeToString(h.Sum(nil))
	return p, lines, nil
}

// putFrom stores a content whose name is known. What turns out to be another
// content is not stored.
func (b *blobs) putFrom(ctx context.Context, sum string, text io.ReadSeeker) error {
	d, err := b.shard(sum)
	if err != nil {
		return err
	}
	held, err := b.lock(true)
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	tmp := sum + halfMark + newID()
	f, err := d.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = text.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(f, text)
	}
	if err == nil {
		err = verify(ctx, f, sum)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Rename(tmp, sum) // one that is there already may be damaged
	}
	if err != nil {
		return errors.Join(err, d.Remove(tmp))
	}
	return nil
}

func verify(ctx context.Context, f *os.File, sum string) error {
	p, _, err := measure(ctx, f)
	if err == nil && p.Sum != sum {
		err = errors.New("the text changed while it was kept")
	}
	return err
}
