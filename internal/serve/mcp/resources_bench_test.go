package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
			session, err := handrail.Open(b.Context(), handrail.Options{Workspace: dir, Guard: handrail.GuardOff})
			if err != nil {
				b.Fatal(err)
			}
			server, err := New(session, Options{Version: "test"})
			if err != nil {
				b.Fatal(err)
			}
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			ended := make(chan error, 1)
			go func() { ended <- server.ServeStdio(context.Background(), in, out) }()
			lines := bufio.NewReaderSize(fromServer, 8<<20)
			ask := func(text string) {
				if _, err := io.WriteString(toServer, text+"\n"); err != nil {
					b.Fatal(err)
				}
				if answer, err := lines.ReadSlice('\n'); err != nil || strings.Contains(string(answer[:min(len(answer), 60)]), `"error"`) {
					b.Fatal(string(answer), err)
				}
			}
			ask(openBody)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for id := 2; b.Loop(); id++ {
				ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`, id))
			}
			_ = toServer.Close()
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			if err := <-ended; err != nil {
				b.Error(err)
			}
			if err := session.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
