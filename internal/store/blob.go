package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

// grace is how long a blob that no result refers to is left alone. Its
// result may be on its way: a process that finds the content in place
// refreshes its time and only then writes its record (octos #1768).
const grace = time.Hour

// blobs are the contents that are too large for the index, each stored once
// under the name of its SHA-256.
type blobs struct {
	dir    *statedir.Dir
	mu     sync.Mutex
	shards map[string]*statedir.Dir // by the first two digits of the name
}

const (
	blobLock = "lock"
	// halfMark follows the name of the content in that of a file that is
	// still being written.
	halfMark = ".half-"
)

func (b *blobs) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, d := range b.shards {
		errs = append(errs, d.Close())
	}
	return errors.Join(append(errs, b.dir.Close())...)
}

// shard returns the directory whose name begins sum.
func (b *blobs) shard(sum string) (*statedir.Dir, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.shards[sum[:2]]; d != nil {
		return d, nil
	}
	d, err := b.dir.Sub(sum[:2])
	if err != nil {
		return nil, err
	}
	if b.shards == nil {
		b.shards = map[string]*statedir.Dir{}
	}
	b.shards[sum[:2]] = d
	return d, nil
}

// lock keeps blobs from being removed while one is put (shared), or from
// being put while some are removed. It returns nil where it would have to
// wait for the latter.
func (b *blobs) lock(shared bool) (io.Closer, error) {
	f, err := b.dir.OpenFile(blobLock, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	ok, err := statedir.Lock(f, shared, shared)
	if !ok {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// put stores text and returns its name. Content that is there already is
// compared and not trusted: a crash or a stranger's hand may have damaged it.
func (b *blobs) put(text string) (sum string, err error) {
	sum = sumOf(text)
	d, err := b.shard(sum)
	if err != nil {
		return "", err
	}
	held, err := b.lock(true)
	if err != nil {
		return "", err
	}
	defer func() { _ = held.Close() }()
	if f, err := d.OpenFile(sum, os.O_RDWR); err == nil {
		defer func() { _ = f.Close() }()
		if holds(f, text) {
			return sum, d.Touch(sum)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return sum, b.write(d, sum, text)
}

func (b *blobs) write(d *statedir.Dir, sum, text string) error {
	tmp := sum + halfMark + newID()
	f, err := d.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.Rename(tmp, sum)
	}
	if err != nil {
		return errors.Join(err, d.Remove(tmp))
	}
	return nil
}

// sumOf returns the SHA-256 of text in hexadecimal.
func sumOf(text string) string {
	h := sha256.New()
	var buf [32 << 10]byte
	for len(text) > 0 {
		n := copy(buf[:], text)
		h.Write(buf[:n])
		text = text[n:]
	}
	return hex.EncodeToString(h.Sum(buf[:0]))
}

// holds reports whether f has exactly that text.
func holds(f *os.File, text string) bool {
	if info, err := f.Stat(); err != nil || info.Size() != int64(len(text)) {
		return false
	}
	var buf [32 << 10]byte
	for len(text) > 0 {
		n, err := io.ReadFull(f, buf[:min(len(buf), len(text))])
		if err != nil || string(buf[:n]) != text[:n] {
			return false
		}
		text = text[n:]
	}
	return true
}

// open opens the content of that name and size for reading.
func (b *blobs) open(sum string, size int64) (*os.File, error) {
	if !isSum(sum) {
		return nil, fmt.Errorf("%q is no name of content", sum)
	}
	d, err := b.shard(sum)
	if err != nil {
		return nil, err
	}
	f, err := d.OpenFile(sum, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() != size {
		_ = f.Close()
		return nil, fmt.Errorf("%s is damaged: it does not have %d bytes", f.Name(), size)
	}
	return f, nil
}

// shardOf returns the directory of a file of ours, or nil for any other.
func (b *blobs) shardOf(name string) (*statedir.Dir, error) {
	sum, _, _ := strings.Cut(name, halfMark)
	if !isSum(sum) {
		return nil, nil
	}
	return b.shard(sum)
}

func isSum(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }
