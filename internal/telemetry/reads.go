package telemetry

import (
	"context"
	"sync"
)

const (
	// pageLines and pageBytes are the smaller window whose cost the probe
	// estimates; octos measures with the same.
	pageLines = 500
	pageBytes = 24 << 10
	// maxProbed bounds how many files the probe remembers.
	maxProbed = 4096
)

// ReadPaging counts what a smaller window of 500 lines or 24 KiB would have
// meant for the reads of a session.
type ReadPaging struct {
	// Unbounded counts reads that named no range, and Paged those of them
	// that the smaller window would have cut.
	Unbounded, Paged int
	// Continued counts reads that began behind the start of a file.
	Continued int
	// LongLine counts reads of a file with one line longer than the window.
	LongLine int
	// Overwritten counts files that were read unbounded, would have been
	// cut, and were then written as a whole: with the smaller window that
	// would have been a loss or a refusal.
	Overwritten int
}

// A ReadProbe counts reads and changes none. The nil probe counts nothing.
// It is safe for concurrent use.
type ReadProbe struct {
	mu     sync.Mutex
	counts ReadPaging
	paged  map[string]bool
}

// A Read is what the probe is told of one read.
type Read struct {
	// Rel is the file.
	Rel string
	// Unbounded says that no range was named, Continued that the read began
	// behind the start.
	Unbounded, Continued bool
	// Lines, Bytes and Longest are of the whole text; Longest is the longest
	// line in bytes. -1 means that it was not counted.
	Lines, Bytes, Longest int64
}

// Read counts one read.
func (p *ReadProbe) Read(r Read) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Longest > pageBytes {
		p.counts.LongLine++
	}
	if r.Continued {
		p.counts.Continued++
	}
	if !r.Unbounded {
		return
	}
	p.counts.Unbounded++
	if r.Lines <= pageLines && r.Bytes <= pageBytes {
		return
	}
	p.counts.Paged++
	if p.paged == nil {
		p.paged = map[string]bool{}
	}
	if len(p.paged) < maxProbed {
		p.paged[r.Rel] = true
	}
}

// Overwrote counts a file that was written as a whole.
func (p *ReadProbe) Overwrote(rel string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paged[rel] {
		p.counts.Overwritten++
		delete(p.paged, rel)
	}
}

// Counts returns what was counted so far.
func (p *ReadProbe) Counts() ReadPaging {
	if p == nil {
		return ReadPaging{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

type probeKey struct{}

// WithReadProbe returns a context that carries a probe. nil carries none.
func WithReadProbe(ctx context.Context, p *ReadProbe) context.Context {
	return context.WithValue(ctx, probeKey{}, p)
}

// ReadProbeFrom returns the session's probe, or nil where it has none.
func ReadProbeFrom(ctx context.Context) *ReadProbe {
	p, _ := ctx.Value(probeKey{}).(*ReadProbe)
	return p
}
