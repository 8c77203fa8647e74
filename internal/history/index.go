package history

import (
	"encoding/json"
	"errors"
	"io"
	"os"
)

// windowSize is how much of a segment is read at once, in bytes.
const windowSize = 64 << 10

// An index says what is in a segment. It grows as the segment does.
type index struct {
	name    string
	root    string
	end     int64 // up to where the segment was read
	damaged bool  // what follows cannot be read
	frames  int
	biggest int64
	records []*record
	open    map[recordKey]*record // records without an end
	objects map[sum]objectRef
	verify  bool // every content, too, by its checksum
}

type recordKey struct {
	id string
	n  int
}

func newIndex(name string) *index {
	return &index{name: name, open: map[recordKey]*record{}, objects: map[sum]objectRef{}}
}

// A window reads a file in blocks and lets what is not wanted be passed over.
type window struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	at   int64 // where buf begins
}

// bytes returns what lies at an offset, which must lie in the file.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	if at < w.at || at+int64(n) > w.at+int64(len(w.buf)) {
		want := int(min(max(int64(n), windowSize), w.size-at))
		if cap(w.buf) < want {
			w.buf = make([]byte, want)
		}
		w.buf, w.at = w.buf[:want], at
		if _, err := w.r.ReadAt(w.buf, at); err != nil && !errors.Is(err, io.EOF) {
			w.buf = nil
			return nil, err
		}
	}
	return w.buf[at-w.at : at-w.at+int64(n)], nil
}

// scan reads on from where the last scan ended. An error means that the file
// could not be read; what is torn or foreign only ends the scan.
func (x *index) scan(r io.ReaderAt, size int64) error {
	w := &window{r: r, size: size}
	x.damaged = false
	for x.end < size {
		head, err := w.bytes(x.end, int(min(headSize, size-x.end)))
		if err != nil {
			return err
		}
		f, err := parseHead(head, x.end, size-x.end-headSize)
		if err != nil {
			x.damaged = true // or not yet whole: another process may be writing it
			return nil
		}
		if err := x.take(w, f); err != nil {
			return err
		}
		if x.damaged {
			return nil
		}
		x.end = f.next()
		x.frames++
	}
	return nil
}

// take reads what matters of one frame.
func (x *index) take(w *window, f frame) error {
	n := f.size
	if f.kind == frameObject && !x.verify {
		n = min(n, 2*sumSize+16) // enough to know what it is and stands on
	}
	body, err := w.bytes(f.at, n)
	if err != nil {
		return err
	}
	if f.kind == frameObject && !x.verify {
		x.takeObject(f, body)
		return nil
	}
	if crcOf(body) != f.crc || (f.kind == frameRoot) != (x.root == "") {
		x.damaged = true
		return nil
	}
	switch f.kind {
	case frameObject:
		x.takeObject(f, body)
	case frameRoot:
		var h heading
		if strict(body, &h) != nil || h.Root == "" {
			x.damaged = true
			return nil
		}
		x.root = h.Root
	case frameBegin:
		r, err := parseRecord(body)
		if err != nil {
			x.damaged = true
			return nil
		}
		r.seg, r.pos = x.name, f.at
		x.records = append(x.records, r)
		x.open[recordKey{r.ID, r.N}] = r
	case frameEnd:
		var e ending
		if json.Unmarshal(body, &e) != nil {
			x.damaged = true
			return nil
		}
		x.finish(e)
	}
	return nil
}

func (x *index) takeObject(f frame, body []byte) {
	if len(body) <= sumSize {
		return // no object: reading it will say so
	}
	ref := objectRef{frame: f}
	if o, _ := parseObject(body); o.form == formDelta {
		ref.depth = x.objects[o.base].depth + 1
	}
	x.biggest = max(x.biggest, int64(f.size))
	x.objects[sum(body[:sumSize])] = ref
}

func (x *index) finish(e ending) {
	key := recordKey{e.ID, e.N}
	r := x.open[key]
	if r == nil {
		return
	}
	delete(x.open, key)
	r.outcome = rolledBack
	if e.OK {
		r.outcome = happened
	}
}

// content reads a content of the segment. depth is how many deltas have led
// here.
func (x *index) content(f io.ReaderAt, of sum, depth int) ([]byte, error) {
	ref, ok := x.objects[of]
	if !ok || depth > maxChain {
		return nil, errObject
	}
	body := make([]byte, ref.size)
	if _, err := f.ReadAt(body, ref.at); err != nil {
		return nil, err
	}
	o, err := parseObject(body)
	if err != nil {
		return nil, err
	}
	if o.sum != of {
		return nil, errObject
	}
	return o.content(func(base sum) ([]byte, error) { return x.content(f, base, depth+1) })
}

// refresh reads on in the segment, and says of its records without an end
// whether a process may still end them.
func (x *index) refresh(f *os.File, own bool) error {
	if err := x.catchUp(f); err != nil || len(x.open) == 0 {
		return err
	}
	// Whether somebody lives is asked before the rest is read: one who ends
	// after the question has written what is read.
	living := own || isLiving(f)
	if err := x.catchUp(f); err != nil {
		return err
	}
	for _, r := range x.open {
		r.living = living
	}
	return nil
}

func (x *index) catchUp(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return x.scan(f, info.Size())
}
