package history

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

const (
	segmentSuffix = ".seg"

	// adoptUpTo is the largest segment that a process goes on with, in
	// bytes: it reads it first, and a command that makes one edit must not
	// wait for that.
	adoptUpTo = 1 << 20
	// adoptTries is how many of the newest segments are looked at for that.
	adoptTries = 4

	// fullSegment is the size in bytes, and fullFrames the number of frames,
	// from which on the next change goes into a new segment. They bound what
	// is removed at once and what is held in memory about a segment.
	fullSegment = 32 << 20
	fullFrames  = 20_000
	// segmentsOfQuota is into how many segments a quota is divided at least.
	segmentsOfQuota = 16
)

// A segment is the file that this process appends to.
type segment struct {
	name    string
	file    *os.File
	size    int64
	biggest int64 // frame
	frames  int
	objects map[sum]objectRef
	last    int64 // time of the last record
	open    int   // records without an end
	retired bool  // no further record goes into it
}

// full reports whether the next change goes elsewhere. The biggest frame
// does not count: edits of one big file are differences to one content,
// which would otherwise begin anew with each segment.
func (s *segment) full(quota int64) bool {
	return s.frames >= fullFrames || s.size-s.biggest >= min(fullSegment, quota/segmentsOfQuota)
}

// append writes whole frames with one write, or nothing.
func (s *segment) append(frames []byte) error {
	if _, err := s.file.Write(frames); err != nil {
		if cut := s.file.Truncate(s.size); cut != nil {
			return fmt.Errorf("%w; and taking back a part of it: %w", err, cut)
		}
		return err
	}
	s.size += int64(len(frames))
	return nil
}

// done closes a segment that nothing more goes into.
func (s *segment) done() error {
	if s.retired && s.open == 0 {
		return s.file.Close()
	}
	return nil
}

// acquireSegment goes on with a segment that an ended process left, or makes
// a new one.
func acquireSegment(d *statedir.Dir, root string, quota int64) (s *segment, fresh bool, err error) {
	names, err := segmentNames(d)
	if err != nil {
		return nil, false, err
	}
	for i, name := range slices.Backward(names) {
		if len(names)-i > adoptTries {
			break
		}
		s, err := adopt(d, name, root)
		if err != nil {
			return nil, false, err
		}
		if s != nil && !s.full(quota) {
			return s, false, nil
		}
		if s != nil {
			_ = s.file.Close()
		}
	}
	s, err = newSegment(d, root)
	return s, true, err
}

// segmentNames lists the segments of a folder, the one that was begun first
// in front.
func segmentNames(d *statedir.Dir) ([]string, error) {
	names, err := d.Names()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, segmentSuffix) })
	slices.Sort(names)
	return names, nil
}

// adopt locks a segment and reads it. It returns nil where another process
// has it, or it is large, or damaged: what is damaged is left as it is and
// never written to.
func adopt(d *statedir.Dir, name, root string) (*segment, error) {
	f, err := d.OpenFile(name, os.O_RDWR|os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := adoptFile(f, name, root)
	if s == nil {
		_ = f.Close()
	}
	return s, err
}

func adoptFile(f *os.File, name, root string) (*segment, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 || info.Size() > adoptUpTo {
		return nil, err
	}
	if ok, err := statedir.Lock(f, false, false); !ok || err != nil {
		return nil, err
	}
	// It may have been removed, and may have grown, until it was locked.
	if gone, err := statedir.IsRemoved(f); gone || err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	x := newIndex(name)
	x.verify = true // what is added will stand on what is there
	if err := x.scan(f, info.Size()); err != nil {
		return nil, err
	}
	if x.damaged || x.root != root {
		return nil, nil
	}
	s := &segment{name: name, file: f, size: x.end, biggest: x.biggest, frames: x.frames, objects: x.objects}
	if n := len(x.records); n > 0 {
		s.last = x.records[n-1].Time
	}
	return s, nil
}

// newSegment makes a segment. Its name says when, so that names in order are
// segments in order.
func newSegment(d *statedir.Dir, root string) (*segment, error) {
	name := fmt.Sprintf("%016x-%s%s", time.Now().UnixNano(), strings.ToLower(rand.Text()[:6]), segmentSuffix)
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	s := &segment{name: name, file: f, objects: map[sum]objectRef{}}
	// A reader may look at it for a moment.
	_, err = statedir.Lock(f, false, true)
	var head []byte
	if err == nil {
		head, err = json.Marshal(heading{Root: root})
	}
	if err == nil {
		err = s.append(appendFrame(nil, frameRoot, head))
	}
	if err != nil {
		_ = f.Close()
		_ = d.Remove(name)
		return nil, fmt.Errorf("beginning a segment of the history: %w", err)
	}
	s.frames = 1
	return s, nil
}

// isLiving reports whether a process has the segment.
func isLiving(f *os.File) bool {
	free, err := statedir.Lock(f, true, false)
	return !free && err == nil
}

// A batch gathers the frames of one record.
type batch struct {
	seg    *segment
	frames []byte
	fresh  map[sum]objectRef // what the frames hold
}

// has reports where an object is, in the segment or in the batch.
func (b *batch) has(of sum) (objectRef, bool) {
	if ref, ok := b.fresh[of]; ok {
		return ref, true
	}
	ref, ok := b.seg.objects[of]
	return ref, ok
}

// add adds a content, as the difference to another one where that is little.
func (b *batch) add(of sum, data []byte, baseSum sum, base []byte) {
	if _, ok := b.has(of); ok {
		return
	}
	at := len(b.frames)
	depth := 0
	var body []byte
	delta := false
	if from, ok := b.has(baseSum); ok && base != nil && from.depth < maxChain {
		body, delta = appendDelta(nil, of, data, baseSum, base)
		depth = from.depth + 1
	}
	if !delta {
		body, depth = appendWhole(nil, of, data), 0
	}
	b.frames = appendFrame(b.frames, frameObject, body)
	if b.fresh == nil {
		b.fresh = map[sum]objectRef{}
	}
	b.fresh[of] = objectRef{frame{frameObject, b.seg.size + int64(at) + headSize, len(body), 0}, depth}
}

// commit writes the batch.
func (b *batch) commit() error {
	if err := b.seg.append(b.frames); err != nil {
		return err
	}
	for of, ref := range b.fresh {
		b.seg.objects[of] = ref
		b.seg.biggest = max(b.seg.biggest, int64(ref.size))
	}
	b.seg.frames += len(b.fresh) + 1
	return nil
}

// now returns a time for the next record, later than that of the last, so
// that records stay in order if the clock goes back.
func (s *segment) now() int64 {
	s.last = max(time.Now().UnixNano(), s.last+1)
	return s.last
}
