package output

import "strings"

// longHex finds the runs of at least [minData] hexadecimal digits. A run
// that long holds one of every minData positions, so only those are looked
// at first.
//
// A checksum is not data to leave out: it is what a lock file or a digest
// is read for, and it gives nothing away. It is told by its exact length
// together with a word that names it.
func longHex(s string) []finding {
	var found []finding
	for i := minData - 1; i < len(s); i += minData {
		if !isHex(s[i]) {
			continue
		}
		start := i
		for start > 0 && isHex(s[start-1]) {
			start--
		}
		end := run(s, i, len(s), isHex)
		if n := end - start; n >= minData && !isChecksum(s, start, end) {
			found = append(found, finding{start, end, "hexadecimal data", isData})
		}
		i += (end - i) / minData * minData
	}
	return found
}

func isHex(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }

// checksumWords name a checksum on the same line before it.
var checksumWords = []string{"sha", "sum", "digest", "integrity", "hash", "blake", "commit", "etag"}

// isChecksum reports whether the run of hexadecimal digits has the length of
// a SHA-256, SHA-384 or SHA-512 sum and is called one: by a word within 60
// bytes before it, or by a file name after it as sha256sum writes.
func isChecksum(s string, start, end int) bool {
	if n := end - start; n != 64 && n != 96 && n != 128 {
		return false
	}
	if rest := s[end:]; start == 0 || s[start-1] == '\n' {
		if strings.HasPrefix(rest, "  ") || strings.HasPrefix(rest, " *") {
			return len(rest) > 2 && rest[2] > ' '
		}
	}
	before := s[max(0, start-60):start]
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	before = strings.ToLower(before)
	for _, word := range checksumWords {
		if strings.Contains(before, word) {
			return true
		}
	}
	return false
}
