package textfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// An Encoding says how characters became bytes.
type Encoding uint8

// The encodings that are known. UTF8 is the zero value.
const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
	UTF32LE
	UTF32BE
	Latin1
	Windows1252
	Latin2
	Windows1250
	Cyrillic
	Windows1251
	KOI8R
	Greek
	Windows1253
	Turkish
	Windows1254
	Hebrew
	Windows1255
	Arabic
	Windows1256
	ShiftJIS
	EUCJP
	GBK
	GB18030
	Big5
	EUCKR
	// Unknown is some superset of ASCII. Its text is the bytes themselves.
	Unknown
	encodings // how many there are
)

// encodingNames are the names for people and models, as IANA spells them.
var encodingNames = [encodings]string{
	UTF8: "UTF-8", UTF16LE: "UTF-16LE", UTF16BE: "UTF-16BE", UTF32LE: "UTF-32LE", UTF32BE: "UTF-32BE",
	Latin1: "ISO-8859-1 (Latin-1)", Windows1252: "windows-1252", Latin2: "ISO-8859-2 (Latin-2)", Windows1250: "windows-1250",
	Cyrillic: "ISO-8859-5", Windows1251: "windows-1251", KOI8R: "KOI8-R", Greek: "ISO-8859-7", Windows1253: "windows-1253",
	Turkish: "ISO-8859-9", Windows1254: "windows-1254", Hebrew: "ISO-8859-8", Windows1255: "windows-1255",
	Arabic: "ISO-8859-6", Windows1256: "windows-1256", ShiftJIS: "Shift_JIS", EUCJP: "EUC-JP", GBK: "GBK", GB18030: "GB18030",
	Big5: "Big5", EUCKR: "EUC-KR", Unknown: "an unknown 8-bit encoding",
}

// String returns the name of the encoding.
func (e Encoding) String() string {
	if e >= encodings {
		return fmt.Sprintf("encoding %d", uint8(e))
	}
	return encodingNames[e]
}

// Parse finds an encoding by its name; case, blanks, "-" and "_" do not
// matter.
func Parse(name string) (Encoding, error) {
	key := foldName(name)
	for e := range Unknown {
		full := encodingNames[e]
		short, _, _ := strings.Cut(full, " (")
		if key == foldName(short) || key == foldName(full) {
			return e, nil
		}
	}
	switch key {
	case "latin1", "l1":
		return Latin1, nil
	case "latin2", "l2":
		return Latin2, nil
	case "cp1252":
		return Windows1252, nil
	case "cp1251":
		return Windows1251, nil
	case "cp1250":
		return Windows1250, nil
	case "sjis", "cp932", "windows31j":
		return ShiftJIS, nil
	case "gb2312", "cp936":
		return GBK, nil
	case "utf16":
		return UTF16LE, nil
	case "ascii", "usascii":
		return UTF8, nil
	}
	return 0, fmt.Errorf("unknown encoding %q; some that are known: UTF-8, UTF-16LE, ISO-8859-1, windows-1252, Shift_JIS, GBK, Big5, EUC-KR", name)
}

func foldName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// codec returns the converter, or nil where the text is the bytes.
func (e Encoding) codec() encoding.Encoding {
	switch e {
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case UTF32LE:
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case UTF32BE:
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case ShiftJIS:
		return japanese.ShiftJIS
	case EUCJP:
		return japanese.EUCJP
	case GBK:
		return simplifiedchinese.GBK
	case GB18030:
		return simplifiedchinese.GB18030
	case Big5:
		return traditionalchinese.Big5
	case EUCKR:
		return korean.EUCKR
	default:
		if m := e.charmap(); m != nil {
			return m
		}
		return nil
	}
}

// charmap returns the table of a single-byte encoding, or nil.
func (e Encoding) charmap() *charmap.Charmap {
	switch e {
	case Latin1:
		return charmap.ISO8859_1
	case Windows1252:
		return charmap.Windows1252
	case Latin2:
		return charmap.ISO8859_2
	case Windows1250:
		return charmap.Windows1250
	case Cyrillic:
		return charmap.ISO8859_5
	case Windows1251:
		return charmap.Windows1251
	case KOI8R:
		return charmap.KOI8R
	case Greek:
		return charmap.ISO8859_7
	case Windows1253:
		return charmap.Windows1253
	case Turkish:
		return charmap.ISO8859_9
	case Windows1254:
		return charmap.Windows1254
	case Hebrew:
		return charmap.ISO8859_8
	case Windows1255:
		return charmap.Windows1255
	case Arabic:
		return charmap.ISO8859_6
	case Windows1256:
		return charmap.Windows1256
	default:
		return nil
	}
}

// wide reports whether ASCII characters take more than one byte.
func (e Encoding) wide() bool { return e >= UTF16LE && e <= UTF32BE }

// bom returns the byte order mark of the encoding, or nil.
func (e Encoding) bom() []byte {
	switch e {
	case UTF8:
		return []byte{0xEF, 0xBB, 0xBF}
	case UTF16LE:
		return []byte{0xFF, 0xFE}
	case UTF16BE:
		return []byte{0xFE, 0xFF}
	case UTF32LE:
		return []byte{0xFF, 0xFE, 0, 0}
	case UTF32BE:
		return []byte{0, 0, 0xFE, 0xFF}
	default:
		return nil
	}
}

// decode turns bytes without a mark into text. Bytes that are no character
// become U+FFFD; UTF-8 and unknown text are taken as they are.
func (e Encoding) decode(data []byte) (string, error) {
	c := e.codec()
	if c == nil {
		return string(data), nil
	}
	out, err := c.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("decoding %s: %w", e, err)
	}
	return string(out), nil
}

// encode turns text into bytes, without a mark. A character that the
// encoding does not have is a [*CharError].
func (e Encoding) encode(text string) ([]byte, error) {
	c := e.codec()
	if c == nil {
		return []byte(text), nil
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("encoding as %s: the text is not valid UTF-8", e)
	}
	out, err := c.NewEncoder().Bytes([]byte(text))
	if err == nil {
		return out, nil
	}
	for _, r := range text {
		if _, err := c.NewEncoder().String(string(r)); err != nil || r == utf8.RuneError {
			return nil, &CharError{Encoding: e, Char: r}
		}
	}
	return nil, fmt.Errorf("encoding as %s: %w", e, err)
}

// exact reports whether encoding text gives data again.
func (e Encoding) exact(data []byte, text string) bool {
	back, err := e.encode(text)
	return err == nil && bytes.Equal(back, data)
}

// A CharError reports a character that a file's encoding cannot hold.
type CharError struct {
	Encoding Encoding
	Char     rune
}

func (e *CharError) Error() string {
	return fmt.Sprintf("the file is %s, which has no character %q (U+%04X)", e.Encoding, e.Char, e.Char)
}
