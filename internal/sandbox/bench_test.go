//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkStartUp measures what each fence adds to a bare exec of /bin/true.
// The ways take turns within one run, so that a busy machine is busy for all of
// them; each reports its median and 90th percentile in microseconds.
func BenchmarkStartUp(b *testing.B) {
	root, _ := workspace(b)
	p := Policy{Mode: WorkspaceWrite, Workspace: root}
	var warm Fence
	ways := []struct {
		name   string
		once   func(b *testing.B)
		before func(b *testing.B) // not part of the time
	}{
		{name: "bare", once: func(b *testing.B) {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}},
		{name: "unshare"}, {name: "none"}, {name: "landlock"}, {name: "namespaces-later"}, {name: "bubblewrap"},
		{name: "namespaces-first", once: func(b *testing.B) {
			f, err := Open(context.Background(), Options{Driver: Namespaces, Policy: p})
			if err != nil {
				b.Fatal(err)
			}
			truth(b, f)
			go func() { _ = f.Close() }() // not part of the first command
		}},
		{
			// The first command of a session that was built while the model thought.
			name: "namespaces-warm",
			before: func(b *testing.B) {
				var err error
				if warm, err = Open(context.Background(), Options{Driver: Namespaces, Policy: p}); err != nil {
					b.Fatal(err)
				}
			},
			once: func(b *testing.B) {
				truth(b, warm)
				go func(f Fence) { _ = f.Close() }(warm) // not part of the first command
			},
		},
		{name: "namespaces-open", once: func(b *testing.B) {
			f, err := Open(context.Background(), Options{Driver: Namespaces, Policy: p})
			if err != nil {
				b.Fatal(err)
			}
			go func() { _ = f.Close() }() // not part of the opening
		}},
	}
	for i, way := range ways {
		switch way.name {
		case "unshare":
			ways[i].once = func(b *testing.B) {
				if err := exec.Command("unshare", "-Urmpfn", "--mount-proc", "true").Run(); err != nil {
					b.Fatal(err)
				}
			}
		case "none", "landlock", "namespaces-later", "bubblewrap":
			d := Driver(way.name)
			if way.name == "namespaces-later" {
				d = Namespaces
			}
			f, err := Open(context.Background(), Options{Driver: d, Policy: p})
			if err != nil {
				b.Log(err)
				continue
			}
			b.Cleanup(func() { _ = f.Close() })
			ways[i].once = func(b *testing.B) { truth(b, f) }
		}
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			if way.once == nil {
				continue
			}
			// The kernel takes a network namespace down in the background; one way
			// must not wait for what another left.
			if way.before != nil {
				way.before(b)
			}
			time.Sleep(settle)
			began := time.Now()
			way.once(b)
			d := time.Since(began)
			took[i] = append(took[i], d)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, way := range ways {
		if len(took[i]) == 0 {
			continue
		}
		slices.Sort(took[i])
		n := len(took[i])
		b.ReportMetric(float64(took[i][n/2].Microseconds()), way.name+"-p50-us")
		b.ReportMetric(float64(took[i][n*9/10].Microseconds()), way.name+"-p90-us")
	}
}

const settle = 25 * time.Millisecond

// truth runs /bin/true in f.
func truth(b *testing.B, f Fence) {
	p, err := f.Start(context.Background(), Spec{Path: "/bin/true", Argv: []string{"true"}})
	if err != nil {
		b.Fatal(err)
	}
	if x, err := p.Wait(); err != nil || x.Code != 0 {
		b.Fatal(x, err)
	}
}

// BenchmarkCommand is a later command of a session, with its allocations.
func BenchmarkCommand(b *testing.B) {
	root, _ := workspace(b)
	for _, d := range []Driver{None, Namespaces, Landlock} {
		f, err := Open(context.Background(), Options{Driver: d, Policy: Policy{Mode: WorkspaceWrite, Workspace: root}})
		if err != nil {
			b.Log(err)
			continue
		}
		b.Run(string(d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				truth(b, f)
			}
		})
		_ = f.Close()
	}
}

// BenchmarkFilter assembles the seccomp filter, which a session does once.
func BenchmarkFilter(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(filter(filterPolicy{})) == 0 {
			b.Fatal("empty")
		}
	}
}
