package shellparse

import (
	"fmt"
	"strings"
	"testing"
)

// twenty is a script of twenty commands as models write them.
var twenty = strings.Join([]string{
	"set -euo pipefail", "cd \"$HOME/src/app\" && git status --short", "git -C . log --oneline -5 | head -3",
	"for f in internal/*.go; do wc -l \"$f\"; done", "grep -rn 'func main' . | sort -u > /tmp/mains.txt 2>&1",
	"timeout 60 go build ./...", "env CGO_ENABLED=0 go test -run TestX ./internal/... | tail -20", "find . -name '*.tmp' -exec rm -f {} +",
	"sed -n '1,40p' go.mod", "awk '{print $1}' go.sum | sort | uniq -c", "bash -c 'npm run build && npm test'", "echo \"done: $(date +%F)\"",
}, "\n")

func TestTwentyIsTwenty(t *testing.T) {
	if n := len(Parse(twenty).Commands); n < 20 {
		t.Errorf("%d commands", n)
	}
}

func BenchmarkParse(b *testing.B) {
	Parse(twenty)
	b.ReportAllocs()
	for b.Loop() {
		Parse(twenty)
	}
}

// BenchmarkDecision is parsing and asking a deny, an ask and an allow list.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf("tool%d sub:*", i))
			}
			deny := set(b, append(list, "git push:*", "rm -rf /:*")...)
			allow := set(b, append(list, "git *", "go test:*", "npm run:*", "npm test")...)
			b.ReportAllocs()
			for b.Loop() {
				p := Parse(twenty)
				deny.Hit(p)
				deny.Hit(p)
				allow.Cover(p, true)
			}
		})
	}
}

func BenchmarkFacts(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readFacts(commandsText, variablesText); err != nil {
			b.Fatal(err)
		}
	}
}
