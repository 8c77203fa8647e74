package pdftext

import (
	"bytes"
	"strconv"
)

// A place is where an object stands.
type place struct {
	data []byte // from the first byte of its value on
	// inner says that it stands in another one, where no stream can.
	inner bool
}

var (
	objMark     = []byte("obj")
	trailerMark = []byte("trailer")
	streamMark  = []byte("stream")
	endMark     = []byte("endstream")
)

// scan finds every object by its mark and not by the table of the file, which
// is what is most often wrong in a damaged one and what a hostile one lies
// with. Of two objects with one number the later one holds, as in a file that
// was changed by appending.
func (d *Document) scan(data []byte) (trailer dict, err error) {
	d.objects = map[int]place{}
	trailer = dict{}
	for at := 0; at < len(data); {
		i := bytes.Index(data[at:], objMark)
		if i < 0 {
			break
		}
		at += i + len(objMark)
		number, ok := numberBefore(data, at-len(objMark))
		if !ok {
			continue
		}
		d.objects[number] = place{data: data[at:]}
		at += d.packed(number, data[at:], trailer)
		if err := d.spent(); err != nil {
			return nil, err
		}
	}
	for at := 0; at < len(data); {
		i := bytes.Index(data[at:], trailerMark)
		if i < 0 {
			break
		}
		at += i + len(trailerMark)
		l := lexer{d: d, data: data[at:], refs: true}
		if t, ok := l.next(0).(dict); ok {
			adopt(trailer, t)
		}
		if err := d.spent(); err != nil {
			return nil, err
		}
	}
	return trailer, nil
}

// adopt takes what matters of one trailer into what is known of all.
func adopt(trailer, t dict) {
	for _, key := range []name{"Root", "Encrypt"} {
		if t[key] != nil {
			trailer[key] = t[key]
		}
	}
}

// numberBefore reads the "12 0 " in front of a mark.
func numberBefore(data []byte, mark int) (int, bool) {
	start := max(0, mark-24)
	head := bytes.TrimRight(data[start:mark], " \t\r\n\x00\f")
	if len(head) == mark-start && mark > start && head[len(head)-1] > '9' {
		return 0, false // endobj
	}
	generation := lastDigits(head)
	rest := head[:len(head)-generation]
	number := bytes.TrimRight(rest, " \t\r\n\x00\f")
	n := lastDigits(number)
	if generation == 0 || n == 0 || len(number) == len(rest) {
		return 0, false
	}
	value, err := strconv.Atoi(string(number[len(number)-n:]))
	return value, err == nil
}

func lastDigits(b []byte) int {
	n := 0
	for n < len(b) && b[len(b)-1-n] >= '0' && b[len(b)-1-n] <= '9' {
		n++
	}
	return n
}

// packed looks at an object for what must be known before any is used: the
// objects inside of it, or a trailer. It returns how far the search for the
// next object may skip.
func (d *Document) packed(number int, data []byte, trailer dict) int {
	// Only what has a stream can be one, and most have none.
	if head := data[:min(len(data), 4<<10)]; !bytes.Contains(head, streamMark) {
		return 0
	}
	s, length, ok := d.streamAt(data)
	if !ok {
		return 0
	}
	switch s.dict["Type"] {
	case name("XRef"):
		adopt(trailer, s.dict)
	case name("ObjStm"):
		d.members(s)
	}
	return length
}

// streamAt reads a stream whose length is written in it.
func (d *Document) streamAt(data []byte) (s stream, length int, ok bool) {
	l := lexer{d: d, data: data, refs: true}
	s.dict, ok = l.next(0).(dict)
	if !ok {
		return s, 0, false
	}
	s.data, length = d.body(s.dict, data, l.pos)
	return s, length, s.data != nil
}

// body returns the packed bytes of a stream behind its dictionary. nil means
// that there are none.
func (d *Document) body(described dict, data []byte, at int) (body []byte, length int) {
	l := lexer{d: d, data: data, pos: at}
	l.skip()
	if !bytes.HasPrefix(data[l.pos:], streamMark) {
		return nil, 0
	}
	start := l.pos + len(streamMark)
	if start < len(data) && data[start] == '\r' {
		start++
	}
	if start < len(data) && data[start] == '\n' {
		start++
	}
	rest := data[start:]
	if n, ok := described["Length"].(float64); ok && n >= 0 && int(n) <= len(rest) {
		if near := rest[int(n):min(len(rest), int(n)+16)]; bytes.Contains(near, endMark) {
			return rest[:int(n):int(n)], start + int(n)
		}
	}
	stop := bytes.Index(rest, endMark)
	if stop < 0 {
		stop = len(rest)
	}
	d.tokens -= stop >> 8 // the search is work, and may be asked for often
	return rest[:stop:stop], start + stop
}

// members notes the objects inside a packed one.
func (d *Document) members(s stream) {
	count, _ := s.dict["N"].(float64)
	first, _ := s.dict["First"].(float64)
	data, ok := d.unpack(s)
	if !ok || first < 0 || int(first) > len(data) {
		return
	}
	l := lexer{d: d, data: data[:int(first)]}
	for range int(min(count, 100_000)) {
		number, ok1 := l.next(0).(float64)
		offset, ok2 := l.next(0).(float64)
		if !ok1 || !ok2 || offset < 0 || int(first+offset) > len(data) {
			return
		}
		d.objects[int(number)] = place{data[int(first+offset):], true}
	}
}

// load returns the object of a number, nil where there is none.
func (d *Document) load(number int) object {
	if v, ok := d.parsed[number]; ok {
		return v
	}
	at, ok := d.objects[number]
	if !ok || d.busy[number] || d.spent() != nil {
		return nil
	}
	d.busy[number] = true
	defer delete(d.busy, number)
	l := lexer{d: d, data: at.data, refs: true}
	v := l.next(0)
	if described, ok := v.(dict); ok && !at.inner {
		if n, ok := described["Length"].(ref); ok {
			described["Length"] = d.value(n)
		}
		if body, _ := d.body(described, at.data, l.pos); body != nil {
			v = stream{described, body}
		}
	}
	d.parsed[number] = v
	return v
}

// value follows a reference, and references to references.
func (d *Document) value(v object) object {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.load(int(r))
	}
	return nil
}

// dict returns a dictionary, or nil.
func (d *Document) dict(v object) dict {
	switch v := d.value(v).(type) {
	case dict:
		return v
	case stream:
		return v.dict
	}
	return nil
}

// number returns a number, or 0.
func (d *Document) number(v object) float64 {
	n, _ := d.value(v).(float64)
	return n
}
