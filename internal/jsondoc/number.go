package jsondoc

import (
	"strconv"
	"strings"
)

// Limits on the writing of one number. A double has at most 17 digits that
// mean something and an exponent below 309, so nothing that a tool could use
// is lost, and arithmetic on what is left is cheap.
const (
	maxNumberLen = 1000
	maxExponent  = 400
)

// PlainInteger reports whether the value is an integer written with digits
// only, as every decoder of integers takes it.
func (n *Node) PlainInteger() bool { return n.Kind == Integer && !n.decimal }

// ParseNumber reads text as one JSON number, with nothing around it, and
// within the limits of this package.
func ParseNumber(text string) (Node, bool) {
	end, ok := scanNumber(text)
	if !ok || end != len(text) {
		return Node{}, false
	}
	return newNumber(text)
}

// newNumber makes a number of text that has the form of one; it reports
// false where it is out of range.
func newNumber(text string) (Node, bool) {
	n := Node{Kind: Integer, Raw: text}
	if len(text) > maxNumberLen {
		return n, false
	}
	n.decimal = strings.ContainsAny(text, ".eE")
	if !n.decimal && len(text) <= 300 {
		return n, true
	}
	if _, _, exponent := split(text); exponent > maxExponent || exponent < -maxExponent {
		return n, false
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return n, false
	}
	if _, _, exponent := normal(text); exponent < 0 {
		n.Kind = Fraction
	}
	return n, true
}

// Integer returns the same value written with digits only, and false for
// one that is no integer.
func (n *Node) Integer() (Node, bool) {
	if n.Kind != Integer {
		return Node{}, false
	}
	if !n.decimal {
		return *n, true
	}
	negative, digits, exponent := normal(n.Raw)
	text := digits + strings.Repeat("0", exponent)
	if negative {
		text = "-" + text
	}
	return Node{Kind: Integer, Raw: text}, true
}

// scanNumber returns where the number that text begins with ends, by the
// grammar of JSON.
func scanNumber(text string) (end int, ok bool) {
	i := 0
	digits := func() bool {
		start := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return i, false
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return i, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return i, false
		}
	}
	return i, true
}

// split takes a number apart: its digits without the point, and the exponent
// as it is written, held within one beyond [maxExponent].
func split(text string) (whole, fraction string, exponent int) {
	text = strings.TrimPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil { // too many digits for an int
			n = maxExponent + 1
		}
		exponent = min(max(n, -maxExponent-1), maxExponent+1)
		text = text[:i]
	}
	whole, fraction, _ = strings.Cut(text, ".")
	return whole, fraction, exponent
}

// normal writes a number as digits times a power of ten, where the digits
// neither begin nor end with a zero; zero itself is "0" and not negative.
func normal(text string) (negative bool, digits string, exponent int) {
	whole, fraction, exponent := split(text)
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return false, "0", 0
	}
	return strings.HasPrefix(text, "-"), trimmed, exponent
}

// canonicalNumber returns a text that equal numbers share.
func canonicalNumber(text string) string {
	negative, digits, exponent := normal(text)
	if exponent != 0 {
		digits += "e" + strconv.Itoa(exponent)
	}
	if negative {
		return "-" + digits
	}
	return digits
}
