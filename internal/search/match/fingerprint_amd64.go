package match

import "golang.org/x/sys/cpu"

// hasVectors reports whether [scanPrints] can run here.
func hasVectors() bool { return cpu.X86.HasAVX2 }

// scanPrints looks at the n places from text on for a fingerprint and stops
// at the first 32 places of which one has it: it returns where they begin
// and a mask of those that do, and fills found with their groups. at is -1
// where there is none. n is at least 32, and n+2 bytes can be read.
//
//go:noescape
func scanPrints(text *byte, n int, tables *prints, found *block) (at int, mask uint32)
