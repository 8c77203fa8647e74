package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
)

// BenchmarkReadResource reads files of several sizes over stdio, from the
// line of the request to that of the answer.
func BenchmarkReadResource(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			line := "a line of some text that is read as it is, \"quoted\" here\n"
			dir := b.TempDir()
			writeFile(b, dir, "a.txt", strings.Repeat(line, size/len(line)))
			c := benchClient(b, handrail.Options{Workspace: dir, Guard: handrail.GuardOff})
			defer c.leave(b)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for id := 2; b.Loop(); id++ {
				c.ask(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`, id))
				c.hear(b)
			}
		})
	}
}
