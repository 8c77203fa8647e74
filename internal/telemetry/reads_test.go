package telemetry

import "testing"

// TestReadProbe: the probe counts what octos-core 7.3 counts, and a session
// without one counts nothing.
func TestReadProbe(t *testing.T) {
	p := &ReadProbe{}
	p.Read(Read{Rel: "small", Unbounded: true, Lines: 500, Bytes: 24 << 10, Longest: 100})
	p.Read(Read{Rel: "lines", Unbounded: true, Lines: 501, Bytes: 1000, Longest: 10})
	p.Read(Read{Rel: "bytes", Unbounded: true, Lines: 3, Bytes: 24<<10 + 1, Longest: 24<<10 + 1})
	p.Read(Read{Rel: "lines", Continued: true, Lines: 501, Bytes: 1000, Longest: 10})
	p.Overwrote("small")
	p.Overwrote("lines")
	p.Overwrote("lines")
	if got, want := p.Counts(), (ReadPaging{Unbounded: 3, Paged: 2, Continued: 1, LongLine: 1, Overwritten: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var none *ReadProbe
	none.Read(Read{Unbounded: true, Lines: 1000})
	none.Overwrote("x")
	if none.Counts() != (ReadPaging{}) || ReadProbeFrom(t.Context()) != nil {
		t.Error("something is counted without a probe")
	}
}
