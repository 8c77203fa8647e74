// Package telemetry counts what happens to calls.
package telemetry

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Metrics are one session's counters. They are safe for concurrent use. The
// label tool is always a registered name or "unknown", so that callers
// cannot make series at will.
type Metrics struct {
	set *metrics.Set

	mu    sync.Mutex
	calls map[callKey]*series
}

type callKey struct{ tool, code string }

type series struct {
	count   *metrics.Counter
	seconds *metrics.Histogram
}

// New returns empty counters.
func New() *Metrics {
	return &Metrics{set: metrics.NewSet(), calls: map[callKey]*series{}}
}

// Call counts one finished call. code is "ok" for a success.
func (m *Metrics) Call(tool, code string, took time.Duration) {
	s := m.series(callKey{orUnknown(tool), code})
	s.count.Inc()
	s.seconds.Update(took.Seconds())
}

// series finds a call's counters without spelling their names out again.
func (m *Metrics) series(k callKey) *series {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.calls[k]
	if s == nil {
		labels := fmt.Sprintf("{tool=%q,code=%q}", k.tool, k.code)
		s = &series{
			count:   m.set.GetOrCreateCounter("handrail_tool_calls_total" + labels),
			seconds: m.set.GetOrCreateHistogram("handrail_tool_call_seconds" + labels),
		}
		m.calls[k] = s
	}
	return s
}

// Denial counts one call that the tool policy refused.
func (m *Metrics) Denial(tool, reason string) {
	m.set.GetOrCreateCounter(fmt.Sprintf("handrail_tool_policy_denial_total{tool=%q,reason=%q}", orUnknown(tool), reason)).Inc()
}

// Loop counts one finding of the loop guard.
func (m *Metrics) Loop(kind string) {
	m.set.GetOrCreateCounter(fmt.Sprintf("handrail_loop_findings_total{kind=%q}", kind)).Inc()
}

// Write writes all counters in the Prometheus text format.
func (m *Metrics) Write(w io.Writer) { m.set.WritePrometheus(w) }

func orUnknown(tool string) string {
	if tool == "" {
		return "unknown"
	}
	return tool
}
