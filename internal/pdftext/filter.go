package pdftext

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// unpack returns the content of a stream. It reports false where that is
// packed in a way that is not known, as a picture is. A damaged stream gives
// what could be read of it.
func (d *Document) unpack(s stream) ([]byte, bool) {
	var filters array
	switch f := d.value(s.dict["Filter"]).(type) {
	case nil:
	case name:
		filters = array{f}
	case array:
		filters = f
	default:
		return nil, false
	}
	if len(filters) > 8 {
		return nil, false
	}
	data := s.data
	for i, f := range filters {
		if d.predicted(s.dict["DecodeParms"], i) {
			return nil, false
		}
		filter, _ := d.value(f).(name)
		r, ok := opened(filter, data)
		if !ok {
			return nil, false
		}
		data = d.drain(r)
	}
	if len(filters) == 0 {
		d.unpacked -= len(data)
	}
	return data, d.spent() == nil
}

// predicted reports whether the bytes were foretold from others, which only
// tables and pictures are.
func (d *Document) predicted(parms object, i int) bool {
	if list, ok := d.value(parms).(array); ok {
		if i >= len(list) {
			return false
		}
		parms = list[i]
	}
	return d.number(d.dict(parms)["Predictor"]) > 1
}

// opened returns a reader that takes one packing off.
func opened(filter name, data []byte) (io.Reader, bool) {
	switch filter {
	case "FlateDecode", "Fl":
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, false
		}
		return r, true
	case "LZWDecode", "LZW":
		return lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8), true
	case "ASCII85Decode", "A85":
		data, _, _ = bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~")), []byte("~"))
		return ascii85.NewDecoder(bytes.NewReader(data)), true
	case "ASCIIHexDecode", "AHx":
		data, _, _ = bytes.Cut(data, []byte(">"))
		return bytes.NewReader(unhex(data)), true
	case "RunLengthDecode", "RL":
		return &runLength{in: data}, true
	}
	return nil, false
}

// drain reads all, as far as the budget and the context allow.
func (d *Document) drain(r io.Reader) []byte {
	var out []byte
	chunk := make([]byte, 32<<10)
	for d.unpacked > 0 && d.ctx.Err() == nil {
		n, err := r.Read(chunk)
		out = append(out, chunk[:n]...)
		if d.unpacked -= n; err != nil {
			break
		}
		if n == 0 {
			d.unpacked-- // a reader that stands still must not do so for ever
		}
	}
	return out
}

// runLength takes run length packing off.
type runLength struct {
	in   []byte
	left int  // of the run
	same bool // the run is one byte again and again
}

func (r *runLength) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if r.left == 0 {
			if len(r.in) < 2 || r.in[0] == 128 {
				return n, io.EOF
			}
			if r.same = r.in[0] > 128; r.same {
				r.left = 257 - int(r.in[0])
			} else {
				r.left = int(r.in[0]) + 1
			}
			r.in = r.in[1:]
		}
		if len(r.in) == 0 {
			return n, io.EOF
		}
		p[n] = r.in[0]
		n++
		r.left--
		if !r.same || r.left == 0 {
			r.in = r.in[1:]
		}
	}
	return n, nil
}
