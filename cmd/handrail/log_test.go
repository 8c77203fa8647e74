package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestLogRowsCannotBeForged puts a newline, control characters and 5,000
// bytes into everything that a caller, a repository or another writer of the
// log may choose.
func TestLogRowsCannotBeForged(t *testing.T) {
	evil := "read_file\n2026-01-01 00:00:00  cli  write_file  ok\x1b[2J\r\t\x9b\u009b\u202e\u2028" + strings.Repeat("x", 5000)
	events := []handrail.LogEntry{
		{Time: time.Unix(0, 0), Asked: evil, Code: tool.CodeUnknownTool, Rule: evil},
		{Time: time.Unix(0, 0), Tool: evil, OK: true, Changed: []string{evil, evil}, Result: evil, Origin: tool.Origin{Kind: tool.OriginKind(evil)}},
		{Time: time.Unix(0, 0), Tool: "t", Code: tool.Code(evil)},
	}
	for _, tty := range []bool{false, true} {
		var out bytes.Buffer
		if err := (&terminal{out: &out, outTTY: tty}).printLog(false, events); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "\n"); got != 1+len(events) {
			t.Errorf("%d lines for a heading and %d events:\n%q", got, len(events), out.String())
		}
		if i := strings.IndexAny(out.String(), "\x1b\r\t\u009b\u202e\u2028"); i >= 0 || strings.Contains(out.String(), "\x9b") {
			t.Errorf("a control character is shown as it is: %q", out.String())
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > 1200 {
				t.Errorf("a row of %d bytes", len(line))
			}
		}
		if !strings.Contains(out.String(), `read_file\u{a}2026-01-01`) {
			t.Errorf("the newline is not shown as an escape: %q", out.String())
		}
	}
}
