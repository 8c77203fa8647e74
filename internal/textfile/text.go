package textfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/transform"
)

// A Text is a decoded file.
type Text struct {
	// Encoding is how the file is encoded, as far as it can be told.
	Encoding Encoding
	// BOM says that the file begins with a byte order mark. Content leaves
	// it out.
	BOM bool
	// Confident says that Encoding may be relied on. Confidence is of 100.
	Confident  bool
	Confidence int
	// Content is the text as UTF-8. For a file that is UTF-8 it is the
	// bytes themselves, so it may hold a few that belong to no character.
	Content string
	// Invalid is how many bytes belong to no character.
	Invalid int
	// Exact says that encoding Content again gives the very bytes.
	Exact bool

	data []byte
}

// ErrBinary reports a file that is not text.
var ErrBinary = errors.New("not text")

// ErrNotASCII reports a change that would need to know the encoding of a
// file whose encoding is only guessed.
var ErrNotASCII = errors.New("the encoding of this file is not known well enough")

// Decode reads a whole file. data must not be changed afterwards. A file
// that is not text fails with [ErrBinary].
func Decode(data []byte) (Text, error) {
	if kind := Sniff(data, true); kind.Binary {
		return Text{}, fmt.Errorf("%w: %s", ErrBinary, kind.What)
	}
	if e, n := mark(data); n > 0 {
		return decodeAs(data, e, n, 100, true)
	}
	if utf8.Valid(data) {
		if e, ok := zeroPattern(data[:min(len(data), sniffLen)]); ok {
			return decodeAs(data, e, 0, 90, true)
		}
		return Text{Confident: true, Confidence: 100, Content: view(data), Exact: true, data: data}, nil
	}
	if e, ok := zeroPattern(data[:min(len(data), sniffLen)]); ok {
		return decodeAs(data, e, 0, 90, true)
	}
	if good, bad := countUTF8(data); good >= 4*bad {
		t, err := decodeAs(data, UTF8, 0, 90, true)
		return t, err
	}
	g := guessEncoding(data)
	return decodeAs(data, g.encoding, 0, g.confidence, g.sure)
}

// view is data as a string, without a copy: a file may have many megabytes,
// and whoever decodes one gives it away.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// DecodeAs reads a whole file in an encoding that somebody named. It fails
// where the bytes are no text in it.
func DecodeAs(data []byte, e Encoding) (Text, error) {
	n := 0
	if m, size := mark(data); size > 0 && (m == e || m == UTF16BE && e == UTF16LE) {
		e, n = m, size
	}
	t, err := decodeAs(data, e, n, 100, true)
	if err == nil && !t.Exact {
		err = fmt.Errorf("the file is not valid %s", e)
	}
	return t, err
}

func decodeAs(data []byte, e Encoding, bom, confidence int, sure bool) (Text, error) {
	content, err := e.decode(data[bom:])
	if err != nil {
		return Text{}, err
	}
	t := Text{
		Encoding: e, BOM: bom > 0, Confident: sure, Confidence: confidence, Content: content, data: data,
	}
	if e.codec() == nil {
		if !utf8.ValidString(content) {
			_, t.Invalid = countUTF8(data[bom:])
		}
		t.Exact = true
	} else {
		t.Invalid = strings.Count(content, string(utf8.RuneError))
		t.Exact = e.exact(data[bom:], content)
	}
	return t, nil
}

// countUTF8 counts the characters of more than one byte and the bytes that
// belong to no character.
func countUTF8(data []byte) (good, bad int) {
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			data = data[1:]
			continue
		}
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		data = data[n:]
	}
	return good, bad
}

// Transparent returns the text in which every byte stands for itself, for a
// file whose encoding is only guessed. [Text.Splice] changes it where all
// that is replaced and written is ASCII. It reports false where not even
// that is safe.
func (t Text) Transparent() (Text, bool) {
	if t.Encoding.wide() || t.BOM {
		return Text{}, false
	}
	return Text{Encoding: Unknown, Content: string(t.data), Invalid: t.Invalid, Exact: true, data: t.data}, true
}

// A Splice replaces Content[Start:End] by New.
type Splice struct {
	Start, End int
	New        string
}

// Splice returns the file with the parts replaced. They must be in order
// and not overlap. Every byte outside them is the file's own. Nothing is
// encoded by a guess: an unsure text fails with [ErrNotASCII], and so does
// a transparent one if bytes beyond ASCII are concerned.
func (t Text) Splice(splices []Splice) ([]byte, error) {
	if t.Encoding != Unknown && !t.Confident || !t.Exact {
		return nil, ErrNotASCII
	}
	bom := 0
	if t.BOM {
		bom = len(t.Encoding.bom())
	}
	raw := t.data[bom:]
	size := len(t.data)
	for _, s := range splices {
		size += len(s.New)
	}
	out := append(make([]byte, 0, size), t.data[:bom]...)
	at, rawAt := 0, 0
	for _, s := range splices {
		if s.Start < at || s.End < s.Start || s.End > len(t.Content) {
			return nil, fmt.Errorf("splicing %d–%d after %d in a text of %d bytes", s.Start, s.End, at, len(t.Content))
		}
		if t.Encoding == Unknown && !t.asciiSplice(s) {
			return nil, ErrNotASCII
		}
		start, err := t.rawLen(raw[rawAt:], t.Content[at:s.Start])
		if err != nil {
			return nil, err
		}
		cut, err := t.rawLen(raw[rawAt+start:], t.Content[s.Start:s.End])
		if err != nil {
			return nil, err
		}
		add, err := t.Encoding.encode(s.New)
		if err != nil {
			return nil, err
		}
		out = append(out, raw[rawAt:rawAt+start]...)
		out = append(out, add...)
		at, rawAt = s.End, rawAt+start+cut
	}
	return append(out, raw[rawAt:]...), nil
}

// asciiSplice reports whether a change of bytes is safe in any superset of
// ASCII: what goes, what comes and what stands before is ASCII. A letter
// after a byte beyond ASCII may be the second half of a character.
func (t Text) asciiSplice(s Splice) bool {
	return ascii(t.Content[s.Start:s.End]) && ascii(s.New) && (s.Start == 0 || t.Content[s.Start-1] < utf8.RuneSelf)
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// rawLen returns how many bytes of raw the text takes, and makes sure that
// they are its bytes.
func (t Text) rawLen(raw []byte, text string) (int, error) {
	if t.Encoding.codec() == nil {
		return len(text), nil
	}
	b, err := t.Encoding.encode(text)
	if err != nil {
		return 0, err
	}
	if len(b) > len(raw) || string(raw[:len(b)]) != string(b) {
		return 0, fmt.Errorf("the file's %s cannot be taken apart at this place", t.Encoding)
	}
	return len(b), nil
}

// Encode returns content as a file like t: the same encoding and mark.
func (t Text) Encode(content string) ([]byte, error) {
	if !t.Confident {
		return nil, ErrNotASCII
	}
	b, err := t.Encoding.encode(content)
	if err != nil || !t.BOM {
		return b, err
	}
	return append(t.Encoding.bom(), b...), nil
}

// NewFile returns content as a new file in an encoding, with a mark where
// the encoding needs one to be recognised.
func NewFile(content string, e Encoding) ([]byte, error) {
	return Text{Encoding: e, BOM: e.wide(), Confident: true}.Encode(content)
}

// NewReader decodes a stream that is too large to be held. head is its
// beginning, which r has delivered already and will not deliver again. The
// encoding is told from head alone; a mark is left out. The reader yields
// UTF-8, in which bytes that are no character may stand as they are.
func NewReader(head []byte, r io.Reader) (io.Reader, Encoding, error) {
	t, err := decodeHead(head)
	if err != nil {
		return nil, UTF8, err
	}
	skip := 0
	if t.BOM {
		skip = len(t.Encoding.bom())
	}
	all := io.MultiReader(strings.NewReader(string(head[skip:])), r)
	c := t.Encoding.codec()
	if c == nil {
		return all, t.Encoding, nil
	}
	return transform.NewReader(all, c.NewDecoder()), t.Encoding, nil
}

// decodeHead tells the encoding from the beginning of a file.
func decodeHead(head []byte) (Text, error) {
	if kind := Sniff(head, false); kind.Binary {
		return Text{}, fmt.Errorf("%w: %s", ErrBinary, kind.What)
	}
	if e, n := mark(head); n > 0 {
		return Text{Encoding: e, BOM: true, Confident: true}, nil
	}
	if e, ok := zeroPattern(head[:min(len(head), sniffLen)]); ok {
		return Text{Encoding: e, Confident: true}, nil
	}
	head = trimPartial(head, false)
	if good, bad := countUTF8(head); bad == 0 || good >= 4*bad {
		return Text{Confident: true}, nil
	}
	// No encoding has a line feed inside a character: up to there all of
	// them are whole.
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	g := guessEncoding(head)
	return Text{Encoding: g.encoding, Confident: g.sure, Confidence: g.confidence}, nil
}

// With returns the text of other data that is encoded as t is, for a file
// that goes through several changes.
func (t Text) With(data []byte) (Text, error) {
	if t.Encoding == Unknown {
		return Text{Encoding: Unknown, Content: string(data), Invalid: t.Invalid, Exact: true, data: data}, nil
	}
	bom := 0
	if t.BOM {
		bom = len(t.Encoding.bom())
	}
	return decodeAs(data, t.Encoding, bom, t.Confidence, t.Confident)
}
