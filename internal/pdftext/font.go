package pdftext

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// A font tells what the codes of a string mean.
type font struct {
	unicode *cmap // nil: there is none
	// composite fonts have codes of two bytes, which mean something only
	// through a map.
	composite bool
	utf16     bool // the codes are UTF-16
	letters   [256]string
	widths    map[uint32]float64
	width     float64 // of what has none of its own
}

// A glyph is one character of a string.
type glyph struct {
	code   uint32
	length int // bytes of the string
	text   string
	width  float64 // in thousandths of the size
}

// fontOf finds the font of a name in the resources that hold.
func (in *interpreter) fontOf(v object) *font {
	key, _ := v.(name)
	entry := in.d.dict(in.resources["Font"])[key]
	if r, ok := entry.(ref); ok {
		if f := in.d.fonts[int(r)]; f != nil {
			return f
		}
		f := in.d.newFont(in.d.dict(entry))
		in.d.fonts[int(r)] = f
		return f
	}
	return in.d.newFont(in.d.dict(entry))
}

func (d *Document) newFont(f dict) *font {
	d.tokens -= 256 // a font that is written in place is made anew at every use
	out := &font{width: 500, widths: map[uint32]float64{}}
	if s, ok := d.value(f["ToUnicode"]).(stream); ok {
		if data, ok := d.unpack(s); ok {
			out.unicode = d.parseCMap(data)
		}
	}
	if f["Subtype"] == name("Type0") {
		out.composite = true
		encoding, _ := d.value(f["Encoding"]).(name)
		out.utf16 = strings.Contains(string(encoding), "UTF16") || strings.Contains(string(encoding), "UCS2")
		if below, ok := d.value(f["DescendantFonts"]).(array); ok && len(below) > 0 {
			d.wideWidths(out, d.dict(below[0]))
		}
		return out
	}
	d.simpleWidths(out, f)
	d.letters(out, f)
	return out
}

// simpleWidths reads the widths of a font with codes of one byte. A font
// whose units are not thousandths says so in its matrix.
func (d *Document) simpleWidths(out *font, f dict) {
	scale := 1.0
	if m, ok := d.value(f["FontMatrix"]).(array); ok && len(m) == 6 {
		scale = d.number(m[0]) * 1000
	}
	first := d.number(f["FirstChar"])
	list, _ := d.value(f["Widths"]).(array)
	for i, w := range list[:min(len(list), 256)] {
		out.widths[uint32(first)+uint32(i)] = d.number(w) * scale
	}
}

// wideWidths reads "c [w1 w2 …]" and "first last w".
func (d *Document) wideWidths(out *font, f dict) {
	out.width = 1000
	if dw, ok := d.value(f["DW"]).(float64); ok {
		out.width = dw
	}
	list, _ := d.value(f["W"]).(array)
	for i := 0; i+1 < len(list); {
		first := uint32(d.number(list[i]))
		if each, ok := d.value(list[i+1]).(array); ok {
			for j, w := range each {
				out.widths[first+uint32(j)] = d.number(w)
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last := uint32(d.number(list[i+1]))
		for c := first; c <= last && c-first < 1<<16 && len(out.widths) < 1<<17; c++ {
			out.widths[c] = d.number(list[i+2])
			d.tokens--
		}
		i += 3
	}
}

// letters fills the table of a font with codes of one byte.
func (d *Document) letters(out *font, f dict) {
	base := name("StandardEncoding")
	var differences array
	switch e := d.value(f["Encoding"]).(type) {
	case name:
		base = e
	case dict:
		if b, ok := d.value(e["BaseEncoding"]).(name); ok {
			base = b
		}
		differences, _ = d.value(e["Differences"]).(array)
	}
	for c := range out.letters {
		out.letters[c] = letter(base, byte(c))
	}
	code := 0
	for _, v := range differences {
		switch v := d.value(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				out.letters[code] = glyphText(string(v))
			}
			code++
		}
	}
}

// letter is what a code means in one of the encodings that PDF names.
func letter(base name, c byte) string {
	var r rune
	switch {
	case c < 0x20:
		return ""
	case base == "MacRomanEncoding":
		r = charmap.Macintosh.DecodeByte(c)
	case base == "WinAnsiEncoding":
		r = charmap.Windows1252.DecodeByte(c)
	case c == '\'':
		r = '’'
	case c == '`':
		r = '‘'
	case c < 0x7f:
		r = rune(c)
	default:
		return standardHigh()[c]
	}
	if r == utf8.RuneError {
		return ""
	}
	return string(r)
}

// glyph reads the first character of a string, which is not empty.
func (f *font) glyph(codes text) glyph {
	g := glyph{length: 1, code: uint32(codes[0])}
	if f.composite && len(codes) >= 2 {
		g = glyph{length: 2, code: uint32(codes[0])<<8 | uint32(codes[1])}
	}
	if f.unicode != nil {
		if n := f.unicode.length(codes); n > 0 {
			g.length, g.code = n, number(codes[:n])
		}
		g.text = f.unicode.lookUp(g.code)
	}
	switch {
	case g.text != "":
	case f.utf16:
		g.text = utf16Text([]byte(codes[:g.length]))
	case !f.composite:
		g.text = f.letters[byte(g.code)]
	}
	g.width = f.width
	if w, ok := f.widths[g.code]; ok {
		g.width = w
	}
	return g
}

// number reads a code of at most four bytes.
func number(codes text) uint32 {
	var n uint32
	for _, c := range []byte(codes) {
		n = n<<8 | uint32(c)
	}
	return n
}

// utf16Text decodes UTF-16 with the high byte first.
func utf16Text(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return strings.Trim(string(utf16.Decode(units)), "\x00\ufffd")
}

// glyphText is what a glyph's name stands for: "A", "eacute", "uni20AC",
// "u1F600", "f_i", "a.sc".
func glyphText(glyph string) string {
	glyph, _, _ = strings.Cut(glyph, ".")
	if s, ok := glyphNames()[glyph]; ok {
		return s
	}
	if utf8.RuneCountInString(glyph) == 1 {
		return glyph
	}
	if hex, ok := strings.CutPrefix(glyph, "uni"); ok && len(hex) >= 4 {
		return utf16Text(unhex([]byte(hex)))
	}
	if hex, ok := strings.CutPrefix(glyph, "u"); ok && len(hex) >= 4 {
		if n, err := strconv.ParseUint(hex, 16, 21); err == nil && utf8.ValidRune(rune(n)) {
			return string(rune(n))
		}
	}
	if strings.Contains(glyph, "_") && len(glyph) < 64 {
		var b strings.Builder
		for part := range strings.SplitSeq(glyph, "_") {
			b.WriteString(glyphNames()[part])
		}
		return b.String()
	}
	return ""
}
