package history

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// The body of an object frame is
//
//	the SHA-256 of the content, its form (one byte), its size (uvarint)
//
// and then, by form: the bytes; the bytes deflated; or the SHA-256 of another
// object of the segment, how many bytes at its start and at its end the two
// share (uvarints), and the bytes between.
const (
	formPlain = iota
	formDeflated
	formDelta
)

const (
	// deflateFrom is the size from which on a content may be deflated, in
	// bytes: below, little is gained. deflateUpTo is where the time that it
	// takes (about 7 ms for each MiB) would be felt.
	deflateFrom = 512
	deflateUpTo = 4 << 20

	// maxChain is how many deltas a content may stand on. Each costs a copy
	// of the content when it is read.
	maxChain = 64

	// worthDelta is how much smaller than the content a delta has to be.
	worthDelta = 4

	sumSize = sha256.Size
)

type sum = [sumSize]byte

// An objectRef is where an object lies in its segment.
type objectRef struct {
	frame
	depth int // how many deltas it stands on
}

var errObject = errors.New("the kept content is damaged")

// appendDelta appends the body of an object that says how data differs from
// base, and reports false where that would save little.
func appendDelta(b []byte, of sum, data []byte, baseSum sum, base []byte) ([]byte, bool) {
	head := commonPrefix(base, data)
	tail := commonSuffix(base[head:], data[head:])
	middle := data[head : len(data)-tail]
	if len(middle) > len(data)/worthDelta {
		return b, false
	}
	b = appendObjectHead(b, of, formDelta, len(data))
	b = append(b, baseSum[:]...)
	b = binary.AppendUvarint(b, uint64(head))
	b = binary.AppendUvarint(b, uint64(tail))
	return append(b, middle...), true
}

// appendWhole appends the body of an object that stands by itself.
func appendWhole(b []byte, of sum, data []byte) []byte {
	if len(data) >= deflateFrom && len(data) <= deflateUpTo {
		at := len(b)
		b = appendObjectHead(b, of, formDeflated, len(data))
		head := len(b)
		if b = appendDeflated(b, data); len(b)-head < len(data)-len(data)/8 {
			return b
		}
		b = b[:at]
	}
	return append(appendObjectHead(b, of, formPlain, len(data)), data...)
}

func appendObjectHead(b []byte, of sum, form byte, size int) []byte {
	b = append(b, of[:]...)
	b = append(b, form)
	return binary.AppendUvarint(b, uint64(size))
}

// writers are kept because one takes 600 KB to set up.
var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

func appendDeflated(b, data []byte) []byte {
	out := bytes.NewBuffer(b)
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(out)
	// A bytes.Buffer takes everything.
	_, _ = w.Write(data)
	_ = w.Close()
	return out.Bytes()
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if binary.LittleEndian.Uint64(a[i:]) != binary.LittleEndian.Uint64(b[i:]) {
			break
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for ; i >= 8; i -= 8 {
		if binary.LittleEndian.Uint64(a[i-8:]) != binary.LittleEndian.Uint64(b[i-8:]) {
			break
		}
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}

// An object is the body of an object frame taken apart.
type object struct {
	sum        sum
	form       byte
	size       int
	base       sum
	head, tail int
	rest       []byte
}

func parseObject(body []byte) (object, error) {
	var o object
	if len(body) < sumSize+2 {
		return o, errObject
	}
	copy(o.sum[:], body)
	o.form = body[sumSize]
	o.rest = body[sumSize+1:]
	if o.size = o.number(MaxKept); o.size < 0 {
		return o, errObject
	}
	switch o.form {
	case formPlain:
		if len(o.rest) != o.size {
			return o, errObject
		}
	case formDeflated:
	case formDelta:
		if len(o.rest) < sumSize {
			return o, errObject
		}
		copy(o.base[:], o.rest)
		o.rest = o.rest[sumSize:]
		o.head = o.number(o.size)
		o.tail = o.number(o.size)
		if o.head < 0 || o.tail < 0 || o.head+len(o.rest)+o.tail != o.size {
			return o, errObject
		}
	default:
		return o, errObject
	}
	return o, nil
}

// number takes an uvarint from the front, -1 where there is none up to most.
func (o *object) number(most int) int {
	n, used := binary.Uvarint(o.rest)
	if used <= 0 || n > uint64(most) {
		return -1
	}
	o.rest = o.rest[used:]
	return int(n)
}

// content puts the object together. base returns the content of another
// object of the segment.
func (o *object) content(base func(sum) ([]byte, error)) ([]byte, error) {
	var data []byte
	switch o.form {
	case formPlain:
		data = o.rest
	case formDeflated:
		r := flate.NewReader(bytes.NewReader(o.rest))
		var err error
		// A byte more than there may be shows a content that is too long.
		if data, err = io.ReadAll(io.LimitReader(r, int64(o.size)+1)); err != nil {
			return nil, fmt.Errorf("%w: %w", errObject, err)
		}
	case formDelta:
		from, err := base(o.base)
		if err != nil {
			return nil, err
		}
		if o.head+o.tail > len(from) {
			return nil, errObject
		}
		data = make([]byte, 0, o.size)
		data = append(data, from[:o.head]...)
		data = append(data, o.rest...)
		data = append(data, from[len(from)-o.tail:]...)
	}
	if len(data) != o.size || sha256.Sum256(data) != o.sum {
		return nil, errObject
	}
	return data, nil
}
