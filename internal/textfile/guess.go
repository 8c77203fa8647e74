package textfile

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/saintfish/chardet"
)

const (
	// guessSample is how many bytes with characters beyond ASCII are
	// looked at: the detector takes 40 µs for a KiB.
	guessSample = 16 << 10
	// sureMulti and sureSingle are the confidences, of 100, from which a
	// guess is trusted. In a trial over 17 texts the detector was right
	// whenever it gave a double-byte encoding 80 or more, and whenever it
	// gave a single-byte one 60 or more; below, it took Polish in
	// windows-1250 for windows-1252 with 54 and Japanese comments in a
	// program for Turkish with 31.
	sureMulti  = 80
	sureSingle = 60
	// sureBytes is how many bytes beyond ASCII a guess must rest on: four
	// characters of two bytes, eight of one.
	sureBytes = 8
)

// chardetNames maps the detector's names.
var chardetNames = map[string]Encoding{
	"ISO-8859-1": Latin1, "windows-1252": Windows1252, "ISO-8859-2": Latin2, "windows-1250": Windows1250,
	"ISO-8859-5": Cyrillic, "windows-1251": Windows1251, "KOI8-R": KOI8R, "ISO-8859-7": Greek, "windows-1253": Windows1253,
	"ISO-8859-9": Turkish, "windows-1254": Windows1254, "ISO-8859-8": Hebrew, "ISO-8859-8-I": Hebrew, "windows-1255": Windows1255,
	"ISO-8859-6": Arabic, "windows-1256": Windows1256, "Shift_JIS": ShiftJIS, "EUC-JP": EUCJP, "GB-18030": GBK,
	"Big5": Big5, "EUC-KR": EUCKR,
}

// A guess is an encoding with the confidence in it, of 100.
type guess struct {
	encoding   Encoding
	confidence int
	sure       bool
}

// guessEncoding names the likely encoding of text that is not UTF-8. It
// falls back to windows-1252, which has a character for nearly every byte.
func guessEncoding(data []byte) guess {
	sample := highLines(data)
	high := 0
	for _, c := range sample {
		if c >= 0x80 {
			high++
		}
	}
	// The detector counts characters, and gives up on the few that the
	// comments of a program hold. Seeing them again does not change which
	// encodings they are impossible in.
	long := sample
	for len(long) > 0 && len(long) < 2048 {
		long = append(long, sample...)
	}
	results, err := chardet.NewTextDetector().DetectAll(long)
	if err != nil {
		return guess{encoding: fallback(data)}
	}
	for _, r := range results {
		e, known := chardetNames[r.Charset]
		if !known {
			continue
		}
		e, central := centralEuropean(e, r.Language)
		if e == GBK && !fits(GBK, data) {
			e = GB18030
		}
		if e == Latin1 && !fits(Latin1, data) {
			e = Windows1252
		}
		if !fits(e, data) {
			continue
		}
		g := guess{encoding: e, confidence: r.Confidence}
		if e >= ShiftJIS {
			g.sure = r.Confidence >= sureMulti && high >= sureBytes
		} else {
			g.sure = r.Confidence >= sureSingle && high >= sureBytes && !central
		}
		return g
	}
	return guess{encoding: fallback(data)}
}

func fallback(data []byte) Encoding {
	if fits(Windows1252, data) {
		return Windows1252
	}
	return Latin1
}

// centralEuropean corrects the detector, which reads Czech, Hungarian,
// Polish and Romanian with the Western table and reports that table. Its
// figure is then worth nothing.
func centralEuropean(e Encoding, language string) (Encoding, bool) {
	switch language {
	case "cs", "hu", "pl", "ro":
		switch e {
		case Latin1:
			return Latin2, true
		case Windows1252:
			return Windows1250, true
		}
	}
	return e, false
}

// fits reports whether data is text in e and comes back the same.
func fits(e Encoding, data []byte) bool {
	text, err := e.decode(data)
	if err != nil {
		return false
	}
	if e == Latin1 {
		// The table maps every byte; 0x80 to 0x9f are controls that no text
		// holds.
		return !slices.ContainsFunc(data, func(c byte) bool { return 0x80 <= c && c < 0xa0 })
	}
	return !strings.ContainsRune(text, utf8.RuneError) && e.exact(data, text)
}

// highLines returns the lines that have bytes beyond ASCII, up to the size
// of the sample.
func highLines(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		for _, c := range line {
			if c >= 0x80 {
				out = append(out, line...)
				break
			}
		}
		if len(out) >= guessSample {
			return out[:guessSample]
		}
	}
	return out
}
