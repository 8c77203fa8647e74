package schema

import (
	"math/big"
	"strconv"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// newNumber makes a bound of a number. The document's reader has bounded its
// digits and exponent, so the exact value is cheap to hold.
func newNumber(n *jsondoc.Node) *Number {
	made := &Number{Text: n.Raw, rat: rational(n)}
	if made.rat.IsInt() && made.rat.Num().IsInt64() {
		made.whole, made.fits = made.rat.Num().Int64(), true
	}
	return made
}

func rational(n *jsondoc.Node) *big.Rat {
	r, ok := new(big.Rat).SetString(n.Raw)
	if !ok {
		// Unreachable: the reader takes no other writing of a number.
		panic("schema: not a number: " + n.Raw)
	}
	return r
}

// value is a number of the instance, read once for all bounds.
type value struct {
	whole int64
	fits  bool
	node  *jsondoc.Node
	rat   *big.Rat
}

func newValue(n *jsondoc.Node) value {
	v := value{node: n}
	if n.PlainInteger() {
		whole, err := strconv.ParseInt(n.Raw, 10, 64)
		v.whole, v.fits = whole, err == nil
	}
	return v
}

func (v *value) exact() *big.Rat {
	if v.rat == nil {
		v.rat = rational(v.node)
	}
	return v.rat
}

// compare returns the sign of v minus bound.
func (v *value) compare(bound *Number) int {
	if v.fits && bound.fits {
		switch {
		case v.whole < bound.whole:
			return -1
		case v.whole > bound.whole:
			return 1
		}
		return 0
	}
	return v.exact().Cmp(bound.rat)
}

func (v *value) multipleOf(step *Number) bool {
	if v.fits && step.fits {
		return v.whole%step.whole == 0
	}
	return new(big.Rat).Quo(v.exact(), step.rat).IsInt()
}
