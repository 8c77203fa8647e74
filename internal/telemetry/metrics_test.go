package telemetry

import (
	"strings"
	"testing"
	"time"
)

func TestMetrics(t *testing.T) {
	m := New()
	m.Call("grep", "ok", time.Millisecond)
	m.Call("grep", "ok", 24*time.Hour)
	m.Call("", "unknown_tool", time.Millisecond)
	m.Denial("shell", "policy_deny")
	m.Loop("cycle")
	var b strings.Builder
	m.Write(&b)
	for _, want := range []string{
		`handrail_tool_calls_total{tool="grep",code="ok"} 2`,
		`handrail_tool_calls_total{tool="unknown",code="unknown_tool"} 1`,
		`handrail_tool_policy_denial_total{tool="shell",reason="policy_deny"} 1`,
		`handrail_loop_findings_total{kind="cycle"} 1`,
		`handrail_tool_call_seconds_bucket{tool="grep",code="ok",le="0.0001"} 0`,
		`handrail_tool_call_seconds_bucket{tool="grep",code="ok",le="0.001"} 1`,
		`handrail_tool_call_seconds_bucket{tool="grep",code="ok",le="600"} 1`,
		`handrail_tool_call_seconds_bucket{tool="grep",code="ok",le="+Inf"} 2`,
		`handrail_tool_call_seconds_sum{tool="grep",code="ok"} 86400.001`,
		`handrail_tool_call_seconds_count{tool="grep",code="ok"} 2`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing in\n%s", want, b.String())
		}
	}
	other := New()
	b.Reset()
	other.Write(&b)
	if strings.Contains(b.String(), "grep") {
		t.Error("two sessions share their counters")
	}
}
