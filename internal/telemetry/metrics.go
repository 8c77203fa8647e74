// Package telemetry counts what happens to calls.
package telemetry

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Metrics are one session's counters. They are safe for concurrent use. The
// label tool is always a registered name or "unknown", so that callers
// cannot make series at will.
//
// They are written out by hand: the libraries for it that were tried cost
// more at the start of the program than a call does.
type Metrics struct {
	mu      sync.Mutex
	calls   map[pair]*series
	denials map[pair]uint64
	loops   map[string]uint64
	// questions are by tool and what became of them.
	questions map[pair]uint64
}

// pair is the labels of a series: the tool, and a code or a reason.
type pair struct{ tool, why string }

func (p pair) compare(other pair) int {
	return cmp.Or(cmp.Compare(p.tool, other.tool), cmp.Compare(p.why, other.why))
}

// series is how long the calls of one tool with one end took.
type series struct {
	count uint64
	sum   time.Duration
	// within counts per bucket; what is longer than all of them is in count
	// alone.
	within [len(buckets)]uint64
}

// buckets are the upper bounds of the histogram: from a read in memory to the
// longest time that a tool may have.
var buckets = [...]struct {
	most time.Duration
	text string
}{
	{100 * time.Microsecond, "0.0001"}, {time.Millisecond, "0.001"}, {5 * time.Millisecond, "0.005"},
	{25 * time.Millisecond, "0.025"}, {100 * time.Millisecond, "0.1"}, {500 * time.Millisecond, "0.5"},
	{2 * time.Second, "2"}, {10 * time.Second, "10"}, {time.Minute, "60"}, {10 * time.Minute, "600"},
}

// New returns empty counters.
func New() *Metrics {
	return &Metrics{calls: map[pair]*series{}, denials: map[pair]uint64{}, loops: map[string]uint64{}, questions: map[pair]uint64{}}
}

// Call counts one finished call. code is "ok" for a success.
func (m *Metrics) Call(tool, code string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := pair{orUnknown(tool), code}
	s := m.calls[k]
	if s == nil {
		s = new(series)
		m.calls[k] = s
	}
	s.count++
	s.sum += took
	for i := range buckets {
		if took <= buckets[i].most {
			s.within[i]++
			break
		}
	}
}

// Denial counts one call that the tool policy refused.
func (m *Metrics) Denial(tool, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.denials[pair{orUnknown(tool), reason}]++
}

// Question counts one question that a person was asked, by what became of it.
func (m *Metrics) Question(tool, answer string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.questions[pair{orUnknown(tool), answer}]++
}

// Loop counts one finding of the loop guard.
func (m *Metrics) Loop(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loops[kind]++
}

// Write writes all counters in the Prometheus text format, in the same order
// each time.
func (m *Metrics) Write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := exposition{bufio.NewWriter(w)}
	if len(m.calls) > 0 {
		keys := slices.SortedFunc(maps.Keys(m.calls), pair.compare)
		out.kind("handrail_tool_calls_total", "counter")
		for _, k := range keys {
			out.count("handrail_tool_calls_total", m.calls[k].count, "tool", k.tool, "code", k.why)
		}
		out.kind("handrail_tool_call_seconds", "histogram")
		for _, k := range keys {
			out.series(k, m.calls[k])
		}
	}
	if len(m.denials) > 0 {
		out.kind("handrail_tool_policy_denial_total", "counter")
		for _, k := range slices.SortedFunc(maps.Keys(m.denials), pair.compare) {
			out.count("handrail_tool_policy_denial_total", m.denials[k], "tool", k.tool, "reason", k.why)
		}
	}
	if len(m.loops) > 0 {
		out.kind("handrail_loop_findings_total", "counter")
		for _, kind := range slices.Sorted(maps.Keys(m.loops)) {
			out.count("handrail_loop_findings_total", m.loops[kind], "kind", kind)
		}
	}
	if len(m.questions) > 0 {
		out.kind("handrail_questions_total", "counter")
		for _, k := range slices.SortedFunc(maps.Keys(m.questions), pair.compare) {
			out.count("handrail_questions_total", m.questions[k], "tool", k.tool, "answer", k.why)
		}
	}
	_ = out.Flush() // a reader that has gone needs no counters
}

// exposition writes lines of the text format.
type exposition struct{ *bufio.Writer }

func (x exposition) kind(name, kind string) { x.words("# TYPE ", name, " ", kind, "\n") }

func (x exposition) count(name string, n uint64, labels ...string) {
	x.words(name, "{")
	for i := 0; i < len(labels); i += 2 {
		if i > 0 {
			x.words(",")
		}
		x.words(labels[i], "=", strconv.Quote(labels[i+1]))
	}
	x.words("} ", strconv.FormatUint(n, 10), "\n")
}

func (x exposition) series(k pair, s *series) {
	const name = "handrail_tool_call_seconds"
	total := uint64(0)
	for i, b := range buckets {
		total += s.within[i]
		x.count(name+"_bucket", total, "tool", k.tool, "code", k.why, "le", b.text)
	}
	x.count(name+"_bucket", s.count, "tool", k.tool, "code", k.why, "le", "+Inf")
	x.words(name, "_sum{tool=", strconv.Quote(k.tool), ",code=", strconv.Quote(k.why), "} ",
		strconv.FormatFloat(s.sum.Seconds(), 'g', -1, 64), "\n")
	x.count(name+"_count", s.count, "tool", k.tool, "code", k.why)
}

// words writes to a buffer, whose first error is told when it is flushed.
func (x exposition) words(parts ...string) {
	for _, p := range parts {
		_, _ = x.WriteString(p)
	}
}

func orUnknown(tool string) string {
	if tool == "" {
		return "unknown"
	}
	return tool
}
