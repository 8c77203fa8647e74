package tools_test

import (
	"slices"
	"testing"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/surface"
	"github.com/handrail-tools/handrail/internal/tools"
)

// BenchmarkStart is what a session pays before its first list.
func BenchmarkStart(b *testing.B) {
	for _, name := range surface.Names() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := surface.Load(name)
				if err != nil {
					b.Fatal(err)
				}
				r := registry.New()
				if err := r.AddAll(slices.Concat(tools.Always(), tools.Files(), tools.History()), registry.Options{}); err != nil {
					b.Fatal(err)
				}
				p, err := policy.Compile(policy.Config{Deny: []string{"effect:exec"}}, nil, r)
				if err != nil {
					b.Fatal(err)
				}
				v, err := registry.NewView(r, registry.ViewConfig{Policies: []*policy.Policy{p}, Surface: s})
				if err != nil {
					b.Fatal(err)
				}
				v.JSON()
			}
		})
	}
}
