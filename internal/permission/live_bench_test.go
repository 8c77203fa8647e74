package permission

import (
	"fmt"
	"testing"
)

// BenchmarkLiveCurrent is what rules that may change cost a judgement.
func BenchmarkLiveCurrent(b *testing.B) {
	l, err := NewLive(Config{}, catalog, &shelf{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Current()
	}
}

// BenchmarkOffers is what it costs to find and try the rules for always, which
// happens once a question.
func BenchmarkOffers(b *testing.B) {
	var deny []string
	for i := range 100 {
		deny = append(deny, fmt.Sprintf("read_file(closed/%d/**)", i))
	}
	l, err := NewLive(Config{Deny: deny}, catalog, &shelf{})
	if err != nil {
		b.Fatal(err)
	}
	a := act(write, "docs/a.txt")
	b.ReportAllocs()
	for b.Loop() {
		if len(l.Offers(a)) != 1 {
			b.Fatal("nothing is offered")
		}
	}
}
