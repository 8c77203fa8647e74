package guard

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

func ok(text string) *tool.Result { return tool.Text(text) }

func failed(code tool.Code, text string) *tool.Result { return &tool.Result{Code: code, Text: text} }

func TestF170_IdenticalFailuresAreRefused(t *testing.T) {
	g := New(Enforce)
	args := []byte(`{"pth":"x"}`)
	for i := range repeatFailures {
		if f := g.Before("read_file", args); f != nil {
			t.Fatalf("call %d was refused: %s", i+1, f.Text)
		}
		g.After("read_file", args, failed(tool.CodeInvalidInput, "unknown pth"))
	}
	first, again := g.Before("read_file", args), g.Before("read_file", args)
	if again == nil || *again != *first {
		t.Errorf("looking a second time: %+v", again)
	}
	g.After("read_file", args, failed(tool.CodeDenied, first.Text))
	second := g.Before("read_file", args)
	if first == nil || first.Kind != "repeated_failure" || first.Stop {
		t.Fatalf("the fourth call: %+v", first)
	}
	if second == nil || !second.Stop {
		t.Errorf("the fifth call does not ask to stop the turn: %+v", second)
	}
	if g.Before("read_file", []byte(`{"path":"x"}`)) != nil {
		t.Error("a corrected call is refused")
	}
	g.After("read_file", []byte(`{"path":"x"}`), ok("text"))
	if g.Before("read_file", args) != nil {
		t.Error("the count survives a success")
	}
}

func TestL58_PollingIsLeftAlone(t *testing.T) {
	g := New(Enforce)
	for i := range 50 {
		if f := g.Before("wait", nil); f != nil {
			t.Fatalf("poll %d refused: %s", i, f.Text)
		}
		if f := g.After("wait", nil, ok(fmt.Sprintf("%d%% done", i))); f != nil {
			t.Fatalf("poll %d got a hint: %s", i, f.Text)
		}
	}
}

func TestL58_SameCallSameResult(t *testing.T) {
	g := New(Enforce)
	var hints, refused int
	for range 4 {
		if g.Before("grep", []byte(`{}`)) != nil {
			refused++
			continue
		}
		if g.After("grep", []byte(`{}`), ok("none")) != nil {
			hints++
		}
	}
	if hints != 1 || refused != 1 {
		t.Errorf("%d hints and %d refusals, want a hint after the third and the fourth refused", hints, refused)
	}
}

func TestShortCycle(t *testing.T) {
	for size := 2; size <= longestCycle; size++ {
		g := New(Enforce)
		var hintAt, refusedAt int
		for i := range 6 * size {
			args := fmt.Appendf(nil, "%d", i%size)
			if g.Before("read", args) != nil {
				refusedAt = i
				break
			}
			if f := g.After("read", args, ok(string(args))); f != nil {
				hintAt = i
			}
		}
		if hintAt != 3*size-1 || refusedAt != 4*size-1 {
			t.Errorf("cycle of %d: hint at call %d, refused at call %d", size, hintAt, refusedAt)
		}
	}
}

func TestCycleIsForgottenWhenLeft(t *testing.T) {
	g := New(Enforce)
	for range 3 {
		g.After("read", []byte("a"), ok("same"))
	}
	g.After("write", []byte("b"), ok("written"))
	if f := g.Before("read", []byte("a")); f != nil {
		t.Errorf("reading again after a write is refused: %s", f.Text)
	}
}

func TestF171_SameErrorWithChangingArguments(t *testing.T) {
	g := New(Enforce)
	var kinds []string
	for i := range 10 {
		args := fmt.Appendf(nil, `{"path":"/a/%d"}`, i)
		if f := g.After("read_file", args, failed(tool.CodeFailed, fmt.Sprintf("file not found: /a/%d", i))); f != nil {
			kinds = append(kinds, fmt.Sprint(f.Kind, f.Stop))
		}
	}
	if got := strings.Join(kinds, " "); got != "same_errorfalse same_errortrue" {
		t.Errorf("findings %q", got)
	}
}

func TestChurn(t *testing.T) {
	g := New(Advise)
	var found []string
	for i := range churnStop {
		res := ok(fmt.Sprint(i))
		res.Changed = []string{"main.go"}
		if f := g.After("edit_file", fmt.Append(nil, i), res); f != nil {
			found = append(found, fmt.Sprint(i+1, f.Stop))
		}
	}
	if got := strings.Join(found, ","); got != "5 false,10 true" {
		t.Errorf("hints at %q", got)
	}
}

func TestLevels(t *testing.T) {
	advise, off := New(Advise), New(Off)
	var hints int
	for range 10 {
		for _, g := range []*Guard{advise, off, nil} {
			if g.Before("x", nil) != nil {
				t.Fatal("only Enforce refuses")
			}
		}
		if advise.After("x", nil, failed(tool.CodeInvalidInput, "bad")) != nil {
			hints++
		}
		if off.After("x", nil, failed(tool.CodeInvalidInput, "bad")) != nil {
			t.Fatal("Off gives a hint")
		}
	}
	if hints == 0 {
		t.Error("Advise gives no hint")
	}
}

func TestBounded(t *testing.T) {
	g := New(Enforce)
	for i := range 5000 {
		res := ok("")
		res.Changed = []string{fmt.Sprint(i)}
		g.After("w", fmt.Append(nil, i), res)
		g.After("x", fmt.Append(nil, -i-1), failed(tool.CodeFailed, strings.Repeat("q", i%7)+" "+string(rune('a'+i%26))))
	}
	if len(g.churn) > maxFiles || len(g.fileRing) > maxFiles || len(g.failing) > maxFiles || len(g.errors) > maxFiles || cap(g.ring) > 2*window {
		t.Errorf("unbounded state: %d %d %d %d", len(g.churn), len(g.fileRing), len(g.failing), len(g.errors))
	}
}

// TestBoundedByBytes calls with names, errors and paths of a megabyte each:
// what is kept of them must not grow with their length.
func TestBoundedByBytes(t *testing.T) {
	const mega, calls = 1 << 20, 100
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	g := New(Enforce)
	before := heap()
	for i := range calls {
		long := strings.Repeat(string(rune('a'+i%26)), mega) + string(rune('a'+i/26))
		g.Before(long, nil)
		g.After(long, nil, failed(tool.CodeUnknownTool, long))
	}
	if len(g.errors) != calls {
		t.Errorf("%d errors are told apart, want %d", len(g.errors), calls)
	}
	for i := range calls {
		res := ok("")
		res.Changed = []string{strings.Repeat("p", mega+i)}
		g.After("w", nil, res)
	}
	if after := heap(); after > before+8*mega {
		t.Errorf("%d bytes are kept after %d calls", after-before, 2*calls)
	}
	runtime.KeepAlive(g)
}

func BenchmarkGuard(b *testing.B) {
	b.ReportAllocs()
	g := New(Enforce)
	args, res := []byte(`{"path":"a","limit":10}`), ok("text")
	for i := 0; b.Loop(); i++ {
		args[2] = byte('a' + i%7)
		g.Before("noop", args)
		g.After("noop", args, res)
	}
}
