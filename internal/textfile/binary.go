package textfile

import (
	"bytes"
	"unicode/utf8"
)

// A Kind is what a file holds, told by its content and never by its name.
type Kind struct {
	// Binary says that the content is not text.
	Binary bool
	// Image says that it is a picture of a format that view_image takes.
	Image bool
	// What names it: "a PNG image", "a ZIP archive", "binary data".
	What string
}

// magics are the first bytes of common formats. Those that begin with
// letters only are tested together with a second mark or a zero byte.
var magics = []struct {
	prefix string
	image  bool
	what   string
}{
	{"\x89PNG\r\n\x1a\n", true, "a PNG image"},
	{"\xff\xd8\xff", true, "a JPEG image"},
	{"GIF87a", true, "a GIF image"},
	{"GIF89a", true, "a GIF image"},
	{"%PDF-", false, "a PDF document"},
	{"\x7fELF", false, "an ELF program or library"},
	{"\xcf\xfa\xed\xfe", false, "a Mach-O program"},
	{"\xfe\xed\xfa\xcf", false, "a Mach-O program"},
	{"\xca\xfe\xba\xbe", false, "a Java class or a Mach-O program"},
	{"MZ\x90\x00", false, "a Windows program"},
	{"\x00asm", false, "a WebAssembly module"},
	{"PK\x03\x04", false, "a ZIP archive (or a document made of one: docx, xlsx, jar)"},
	{"PK\x05\x06", false, "an empty ZIP archive"},
	{"\x1f\x8b", false, "gzip data"},
	{"BZh9", false, "bzip2 data"},
	{"\xfd7zXZ\x00", false, "xz data"},
	{"\x28\xb5\x2f\xfd", false, "zstd data"},
	{"7z\xbc\xaf\x27\x1c", false, "a 7z archive"},
	{"SQLite format 3\x00", false, "an SQLite database"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", false, "an old Office document"},
	{"OggS\x00", false, "an Ogg stream"},
	{"fLaC\x00", false, "FLAC audio"},
	{"ID3\x03", false, "MP3 audio"},
	{"ID3\x04", false, "MP3 audio"},
	{"\x00\x00\x01\x00", false, "an icon"},
	{"wOF2\x00", false, "a web font"},
	{"!<arch>\n", false, "an object archive"},
}

// sniffLen is how many bytes decide about a file. Git looks at the first
// 8,000 for a zero byte; the number here is that, rounded up.
const sniffLen = 8192

// Sniff tells what a file holds from its first bytes; all of a short file,
// at least 8 KiB of a longer one. whole says that head is the whole file.
func Sniff(head []byte, whole bool) Kind {
	if len(head) > sniffLen {
		head, whole = head[:sniffLen], false
	}
	if kind, ok := sniffMagic(head); ok {
		return kind
	}
	if _, n := mark(head); n > 0 {
		return Kind{What: "text"}
	}
	if _, ok := zeroPattern(head); ok {
		return Kind{What: "text"}
	}
	zeros, controls := 0, 0
	for _, c := range head {
		switch {
		case c >= 0x20 && c != 0x7f:
		case c == 0:
			zeros++
		case control(c) && c != '\f' && c != '\b' && c != 0x1b:
			controls++
		}
	}
	valid := utf8.Valid(trimPartial(head, whole))
	// A text may hold a zero byte or two and stay readable; a zero among
	// bytes that are no UTF-8, or many of them, is data.
	switch odd := zeros + controls; {
	case zeros > 0 && !valid, odd > max(1, len(head)/20) && valid, odd > len(head)/20 && !valid:
		return Kind{Binary: true, What: "binary data"}
	}
	return Kind{What: "text"}
}

func sniffMagic(head []byte) (Kind, bool) {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return Kind{Binary: true, Image: m.image, What: m.what}, true
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" {
		if string(head[8:12]) == "WEBP" {
			return Kind{Binary: true, Image: true, What: "a WebP image"}, true
		}
		return Kind{Binary: true, What: "a RIFF file (audio or video)"}, true
	}
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		return Kind{Binary: true, What: "an MPEG-4 file (video, audio or HEIC)"}, true
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return Kind{Binary: true, What: "a tar archive"}, true
	}
	return Kind{}, false
}

// mark returns the encoding that a byte order mark at the start of data
// names, and the length of the mark.
func mark(data []byte) (Encoding, int) {
	// UTF-32LE is asked first: its mark begins with that of UTF-16LE.
	for _, e := range [...]Encoding{UTF32LE, UTF32BE, UTF8, UTF16LE, UTF16BE} {
		if bytes.HasPrefix(data, e.bom()) {
			return e, len(e.bom())
		}
	}
	return UTF8, 0
}

// zeroPattern recognises UTF-16 without a mark: of the characters of most
// texts, blanks and line ends at least, one byte of two is zero, always the
// same one.
func zeroPattern(head []byte) (Encoding, bool) {
	if len(head) < 4 || bytes.IndexByte(head, 0) < 0 {
		return UTF8, false
	}
	pairs := len(head) / 2
	var even, odd, bad int
	for i := 0; i+1 < len(head); i += 2 {
		hi, lo := head[i], head[i+1]
		switch {
		case hi == 0 && control(lo), lo == 0 && control(hi):
			bad++
		case hi == 0:
			even++
		case lo == 0:
			odd++
		}
	}
	switch {
	case bad > 0:
		return UTF8, false
	case odd*10 >= pairs*4 && even*20 <= pairs:
		return UTF16LE, true
	case even*10 >= pairs*4 && odd*20 <= pairs:
		return UTF16BE, true
	default:
		return UTF8, false
	}
}

// control reports whether a byte is a character that lines do not consist
// of.
func control(c byte) bool { return c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }

// trimPartial drops a character that was cut by the end of a sample.
func trimPartial(head []byte, whole bool) []byte {
	if whole {
		return head
	}
	for back := 1; back < utf8.UTFMax && back <= len(head); back++ {
		at := len(head) - back
		if utf8.RuneStart(head[at]) {
			if !utf8.FullRune(head[at:]) {
				return head[:at]
			}
			break
		}
	}
	return head
}
