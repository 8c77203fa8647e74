package search

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	utf8Mark       = []byte{0xef, 0xbb, 0xbf}
	utf16LittleEnd = []byte{0xff, 0xfe}
	utf16BigEnd    = []byte{0xfe, 0xff}
)

// utf16Reader reads UTF-16 as UTF-8. What is no character becomes U+FFFD.
type utf16Reader struct {
	src   io.Reader
	order binary.ByteOrder
	raw   []byte // read and not converted
	room  []byte // where raw lies
	out   []byte // converted and not handed over
	made  []byte // where out lies
	ended bool
}

// begin prepares for the file that begins with text and goes on with src,
// and reports whether it is UTF-16. whole says that text is all.
func (u *utf16Reader) begin(text []byte, src io.Reader, whole bool) bool {
	switch {
	case bytes.HasPrefix(text, utf16LittleEnd):
		u.order = binary.LittleEndian
	case bytes.HasPrefix(text, utf16BigEnd):
		u.order = binary.BigEndian
	default:
		return false
	}
	// The text lies in the buffer that will be read into.
	u.room = append(u.room[:0], text[2:]...)
	u.raw, u.out, u.src, u.ended = u.room, nil, src, whole
	return true
}

func (u *utf16Reader) Read(b []byte) (int, error) {
	for len(u.out) == 0 {
		if len(u.raw) < 4 && !u.ended {
			if err := u.more(); err != nil {
				return 0, err
			}
			continue
		}
		if len(u.raw) == 0 {
			return 0, io.EOF
		}
		u.convert()
	}
	n := copy(b, u.out)
	u.out = u.out[n:]
	return n, nil
}

// more reads on.
func (u *utf16Reader) more() error {
	u.room = append(u.room[:0], u.raw...)
	have := len(u.room)
	u.room = append(u.room, make([]byte, bufferSize/4)...)
	n, err := u.src.Read(u.room[have:])
	u.raw = u.room[:have+n]
	if err == io.EOF {
		u.ended = true
		return nil
	}
	return err
}

// convert converts the next few thousand units. Half a pair at the end waits
// for its other half.
func (u *utf16Reader) convert() {
	const most = 4096
	u.out = u.made[:0]
	defer func() { u.made = u.out }()
	for units := 0; units < most && len(u.raw) > 0; units++ {
		if len(u.raw) == 1 {
			if !u.ended {
				return
			}
			u.raw, u.out = nil, utf8.AppendRune(u.out, utf8.RuneError)
			return
		}
		r := rune(u.order.Uint16(u.raw))
		width := 2
		if utf16.IsSurrogate(r) {
			if len(u.raw) < 4 && !u.ended {
				return
			}
			low := rune(utf8.RuneError)
			if len(u.raw) >= 4 {
				low = rune(u.order.Uint16(u.raw[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				width = 4
			}
		}
		u.out = utf8.AppendRune(u.out, r)
		u.raw = u.raw[width:]
	}
}
