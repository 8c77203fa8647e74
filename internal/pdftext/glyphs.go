package pdftext

import (
	"strings"
	"sync"
)

// The names of the glyphs of the Latin character set of PDF, in the order of
// their code points: ASCII from the blank on, Latin-1 from 0xA1 on, and then
// pairs of a name and its text.
const (
	asciiNames = "space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen period slash " +
		"zero one two three four five six seven eight nine colon semicolon less equal greater question at " +
		"A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave " +
		"a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde"
	latinNames = "exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot sfthyphen registered macron " +
		"degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown " +
		"Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis " +
		"Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls " +
		"agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis " +
		"eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis"
	otherNames = "quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ guilsinglleft ‹ guilsinglright › " +
		"endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡ perthousand ‰ fraction ⁄ minus − Euro € florin ƒ trademark ™ " +
		"fi fi fl fl ff ff ffi ffi ffl ffl dotlessi ı OE Œ oe œ Lslash Ł lslash ł Scaron Š scaron š Zcaron Ž zcaron ž Ydieresis Ÿ " +
		"circumflex ˆ tilde ˜ breve ˘ dotaccent ˙ ring ˚ hungarumlaut ˝ ogonek ˛ caron ˇ " +
		"alpha α beta β gamma γ delta δ epsilon ε theta θ lambda λ pi π rho ρ sigma σ tau τ phi φ omega ω Delta Δ Omega Ω Sigma Σ summation ∑ " +
		"infinity ∞ notequal ≠ lessequal ≤ greaterequal ≥ approxequal ≈ arrowright → arrowleft ← radical √ integral ∫ product ∏ partialdiff ∂"
	// standardNames are the codes of StandardEncoding above ASCII.
	standardNames = "161 exclamdown 162 cent 163 sterling 164 fraction 165 yen 166 florin 167 section 168 currency 169 quotesingle 170 quotedblleft " +
		"171 guillemotleft 172 guilsinglleft 173 guilsinglright 174 fi 175 fl 177 endash 178 dagger 179 daggerdbl 180 periodcentered 182 paragraph " +
		"183 bullet 184 quotesinglbase 185 quotedblbase 186 quotedblright 187 guillemotright 188 ellipsis 189 perthousand 191 questiondown 193 grave " +
		"194 acute 195 circumflex 196 tilde 197 macron 198 breve 199 dotaccent 200 dieresis 202 ring 203 cedilla 205 hungarumlaut 206 ogonek 207 caron " +
		"208 emdash 225 AE 227 ordfeminine 232 Lslash 233 Oslash 234 OE 235 ordmasculine 241 ae 245 dotlessi 248 lslash 249 oslash 250 oe 251 germandbls"
)

// glyphNames is the table from names to texts.
var glyphNames = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for i, n := range strings.Fields(asciiNames) {
		m[n] = string(rune(' ' + i))
	}
	for i, n := range strings.Fields(latinNames) {
		m[n] = string(rune(0xA1 + i))
	}
	m["sfthyphen"] = "-"
	pairs := strings.Fields(otherNames)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
})

// standardHigh is the upper half of StandardEncoding.
var standardHigh = sync.OnceValue(func() *[256]string {
	out := new([256]string)
	pairs := strings.Fields(standardNames)
	for i := 0; i+1 < len(pairs); i += 2 {
		code := 0
		for _, digit := range pairs[i] {
			code = code*10 + int(digit-'0')
		}
		out[code] = glyphNames()[pairs[i+1]]
	}
	return out
})
