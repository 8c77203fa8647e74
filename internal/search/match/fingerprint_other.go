//go:build !amd64

package match

// hasVectors reports whether scanPrints can run here.
func hasVectors() bool { return false }

func scanPrints(*byte, int, *prints, *block) (at int, mask uint32) {
	panic("match: no vector search on this machine")
}
