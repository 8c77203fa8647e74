package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// abuseVariable makes the attacks go on for the time that it holds, as 10m
// in all, and makes them as big as the fast form only says they are.
const abuseVariable = "HANDRAIL_ABUSE"

// attackTime is how long one attack goes on: a moment, or so many hundredths
// of a long run.
func attackTime(t testing.TB, share time.Duration) time.Duration {
	t.Helper()
	value := os.Getenv(abuseVariable)
	if value == "" {
		return 300 * time.Millisecond
	}
	all, err := time.ParseDuration(value)
	if err != nil {
		t.Fatalf("%s: %v", abuseVariable, err)
	}
	return all * share / 100
}

// long reports whether the attacks are to be made at full size.
func long() bool { return os.Getenv(abuseVariable) != "" }

// memory fails the test if the heap and the stacks come to more than limit
// bytes above what they are now. stop ends the watching. The collector is
// told of the limit, so that what is dead already does not count.
func memory(t *testing.T, limit uint64) (stop func()) {
	t.Helper()
	before := inUse(true)
	unlimited := debug.SetMemoryLimit(int64(before + limit/2))
	quit, ended := make(chan struct{}), make(chan struct{})
	var most uint64
	go func() {
		defer close(ended)
		for {
			if now := inUse(false); now > before {
				most = max(most, now-before)
			}
			select {
			case <-quit:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(quit)
		<-ended
		debug.SetMemoryLimit(unlimited)
		t.Logf("at most %d KiB more than the %d KiB before", most>>10, before>>10)
		if most > limit {
			t.Errorf("memory grew by %d MiB, and may by %d", most>>20, limit>>20)
		}
	})
}

func inUse(collect bool) uint64 {
	if collect {
		runtime.GC()
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// settled waits until the heap and the stacks are within slack bytes of what
// they were.
func settled(t *testing.T, before, slack uint64) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		now := inUse(true)
		if now <= before+slack {
			return
		}
		if time.Now().After(deadline) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Errorf("%d KiB stay in use: heap %d KiB, stacks %d KiB", (now-before)>>10, m.HeapAlloc>>10, m.StackInuse>>10)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// descriptors counts this process's open files, or 0 where the system does
// not say.
func descriptors() int {
	open, _ := os.ReadDir("/proc/self/fd")
	return len(open)
}

// sameDescriptors fails the test if files stay open that are not now. It
// must be called before what it is about, as its cleanup comes last.
func sameDescriptors(t *testing.T) {
	t.Helper()
	before := descriptors()
	t.Cleanup(func() {
		deadline := time.Now().Add(5 * time.Second)
		for descriptors() > before {
			if time.Now().After(deadline) {
				t.Errorf("%d descriptors, %d before", descriptors(), before)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// mute is a client that reads only when it is told to, and that writes in
// the background.
type mute struct {
	t       *testing.T
	server  *Server
	toIn    *io.PipeWriter
	fromOut *io.PipeReader
	ended   chan error
	stop    context.CancelFunc
}

func muteClient(t *testing.T, tools ...tool.Tool) *mute {
	t.Helper()
	session, err := handrail.Open(t.Context(), handrail.Options{NoBuiltins: true, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	server, err := New(session, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	server.patience = 100 * time.Millisecond
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	m := &mute{t: t, server: server, toIn: toIn, fromOut: fromOut, ended: make(chan error, 1), stop: stop}
	go func() { m.ended <- server.ServeStdio(ctx, in, out) }()
	t.Cleanup(func() {
		stop()
		_ = toIn.Close()
		m.end()
		if err := session.Close(); err != nil {
			t.Logf("closing, which waits two seconds for calls: %v", err) // none is left at the end: see TestMain
		}
	})
	return m
}

// end waits until the server has ended.
func (m *mute) end() {
	m.t.Helper()
	select {
	case err := <-m.ended:
		m.ended <- err
	case <-time.After(10 * time.Second):
		buf := make([]byte, 1<<20)
		m.t.Fatalf("the server hangs:\n%s", buf[:runtime.Stack(buf, true)])
	}
}

func (m *mute) open() {
	m.t.Helper()
	go func() { _, _ = io.WriteString(m.toIn, openBody+"\n") }()
	if _, err := bufio.NewReaderSize(m.fromOut, 16<<10).ReadString('\n'); err != nil {
		m.t.Fatal(err)
	}
	if _, err := io.WriteString(m.toIn, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		m.t.Fatal(err)
	}
}

// flood writes what next returns for as long as the attack lasts, or until
// the server has taken no more for a while. It returns how many lines went.
func (m *mute) flood(next func(i int) []byte) int {
	m.t.Helper()
	var lines atomic.Int64
	over := time.After(attackTime(m.t, 5))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := m.toIn.Write(next(i)); err != nil {
				return
			}
			lines.Add(1)
		}
	}()
	last, since := int64(-1), time.Now()
	for {
		select {
		case <-over:
		case <-time.After(20 * time.Millisecond):
			if n := lines.Load(); n != last {
				last, since = n, time.Now()
				continue
			}
			if time.Since(since) < time.Second {
				continue
			}
		}
		break
	}
	close(stop)
	_ = m.toIn.Close() // ends a write that nobody takes
	<-stopped
	return int(lines.Load())
}

func line(text string) []byte { return []byte(text + "\n") }

// TestStdioFloodOfAMuteClient: a client that sends and never reads fills no
// more than the bounds, and the server ends when it goes.
func TestStdioFloodOfAMuteClient(t *testing.T) {
	pad := strings.Repeat("x", 100_000)
	big := tool.Func("big", "Says much.", tool.Pure, func(context.Context, nothing) (string, error) { return strings.Repeat("y", 40_000), nil })
	type text struct {
		Text string `json:"text" jsonschema:"any text"`
	}
	waits := tool.Func("waits", "Waits.", tool.Pure, func(ctx context.Context, _ text) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	for name, next := range map[string]func(i int) []byte{
		"calls": func(i int) []byte { return line(toolCall(i+2, "big")) },
		"calls that wait": func(i int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"waits","arguments":{"text":%q}}}`+"\n", i+2, pad)
		},
		"lists": func(i int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i+2)
		},
		"unknown methods": func(i int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"nothing/such","params":{"x":%q}}`+"\n", i+2, pad)
		},
		"notifications": func(i int) []byte {
			if i%100 == 0 { // something that is answered in turn, to stop the row
				return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"nothing/such"}`+"\n", i+2)
			}
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":%q}}`+"\n", pad)
		},
		"answers": func(i int) []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"x":%q}}`+"\n", i, pad)
		},
		"errors":  func(i int) []byte { return line(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`) },
		"no JSON": func(i int) []byte { return line("{") },
	} {
		t.Run(name, func(t *testing.T) {
			m := muteClient(t, big, waits)
			m.open()
			done := memory(t, 160<<20)
			n := m.flood(next)
			t.Logf("%d lines", n)
			done()
			m.stop()
			m.end()
		})
	}
}

// TestStdioFloodThatIsRead: the SDK's row of messages does not grow behind a
// client that sends faster than they are handled.
func TestStdioFloodThatIsRead(t *testing.T) {
	m := muteClient(t, ok("apple", tool.Read))
	m.open()
	go func() { _, _ = io.Copy(io.Discard, m.fromOut) }()
	big := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"message":%q}}`+"\n", strings.Repeat("x", 4<<20))
	done := memory(t, 192<<20)
	m.flood(func(int) []byte { return big })
	done()
	m.end()
}

// TestStdioLongLinesTakeNoMemory: of lines that are too long nothing is kept.
func TestStdioLongLinesTakeNoMemory(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read))
	p.open()
	done := memory(t, 128<<20) // nothing of a line is kept; what was read of the last ones may not be collected yet
	chunk := []byte(strings.Repeat(`{"a":"`, 10_000))
	lines := 3
	if long() {
		lines = 20
	}
	for range lines {
		for sent := 0; sent < 64<<20; sent += len(chunk) {
			if _, err := p.in.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		p.send("")
		if id, line := p.next(); id != "null" || !strings.Contains(line, "-32600") {
			t.Fatalf("%.200s", line)
		}
	}
	done()
	p.send(toolCall(2, "apple"))
	if id, line := p.next(); id != "2" || !strings.Contains(line, `"text":"apple`) {
		t.Errorf("afterwards: %s", line)
	}
}

// TestStdioGarbage: whatever stands on a line, the next is read.
func TestStdioGarbage(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read))
	p.open()
	random := rand.New(rand.NewPCG(1, 2))
	whole := []byte(strings.Replace(toolCall(7, "apple"), `"arguments":{}`, `"arguments":{},"_meta":{"progressToken":1}`, 1))
	for end, i := time.Now().Add(attackTime(t, 5)), 0; i < 200 || time.Now().Before(end); i++ {
		bad := append([]byte(nil), whole...)
		for range 1 + random.IntN(4) {
			switch at := random.IntN(len(bad)); random.IntN(3) {
			case 0:
				bad[at] = byte(random.IntN(256))
			case 1:
				bad = bad[:at+1]
			default:
				bad = append(bad[:at:at], bad[at/2:]...)
			}
		}
		p.send(strings.ReplaceAll(string(bad), "\n", " "))
		last := fmt.Sprintf(`"end-%d"`, i)
		p.send(toolCall(last, "apple"))
		for {
			id, line := p.next()
			if id == last {
				if !strings.Contains(line, `"result"`) {
					t.Fatalf("after %q: %s", bad, line)
				}
				break
			}
		}
	}
}

// TestStdioClientStopsReading: one whose reading side has gone is gone,
// although its other side is open still.
func TestStdioClientStopsReading(t *testing.T) {
	running, release := make(chan string, 1), make(chan struct{})
	m := muteClient(t, gated("slow", running, release))
	m.open()
	if _, err := m.toIn.Write(line(toolCall(2, "slow"))); err != nil {
		t.Fatal(err)
	}
	<-running
	_ = m.fromOut.CloseWithError(errors.New("the client has died"))
	close(release)
	m.end()
}

// stuck is a stream that takes nothing and does not end when it is closed,
// as a terminal's or a process's output may not.
type stuck struct{ free chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.free; return 0, io.ErrClosedPipe }
func (s stuck) Close() error                { return nil }

// TestStdioStopsBesideAStuckReader: the end does not wait for a client that
// does not read, whichever side it comes from.
func TestStdioStopsBesideAStuckReader(t *testing.T) {
	for name, end := range map[string]func(stop func(), in io.Closer){
		"told to stop":        func(stop func(), _ io.Closer) { stop() },
		"the client has gone": func(_ func(), in io.Closer) { _ = in.Close() },
		"the client is stuck": func(func(), io.Closer) {},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := handrail.Open(t.Context(), handrail.Options{NoBuiltins: true, Tools: oneTool()})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			server, err := New(session, Options{Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			server.patience = 100 * time.Millisecond
			if name == "the client is stuck" {
				server.stuck = 300 * time.Millisecond
			}
			in, toIn := io.Pipe()
			out := stuck{make(chan struct{})}
			defer close(out.free)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- server.ServeStdio(ctx, in, out) }()
			call := strings.Replace(toolCall(2, "apple"), `"arguments"`, metaBody+`,"arguments"`, 1)
			for _, text := range []string{call, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{` + metaBody + `}}`} {
				if _, err := toIn.Write(line(text)); err != nil {
					t.Fatal(err)
				}
			}
			end(stop, toIn)
			select {
			case err := <-ended:
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("serving: %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("the server waits for a client that does not read")
			}
			_ = toIn.Close()
		})
	}
}

// TestStdioAnswersAreNotMixed: many requests at once, of all kinds, each get
// their own answer, and one.
func TestStdioAnswersAreNotMixed(t *testing.T) {
	type number struct {
		N int `json:"n" jsonschema:"a number"`
	}
	echo := tool.Typed[number]{
		Spec: tool.Spec{Name: "echo", Description: "Says it back.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(_ context.Context, _ *tool.Call, in number) (*tool.Result, error) {
			runtime.Gosched()
			return tool.Text(fmt.Sprintf("<%d>", in.N)), nil
		},
	}.Tool()
	p := stdioClient(t, echo)
	p.open()
	sent := 0
	for end := time.Now().Add(attackTime(t, 5)); sent < 500 || time.Now().Before(end); {
		const batch = 100
		go func() {
			for i := range batch {
				n := sent + i + 2
				switch n % 4 {
				case 0:
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, n))
				case 1:
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d},"_meta":{"progressToken":%d}}}`, n, n, n))
				default:
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"echo","arguments":{"n":%d}}}`, n, n))
				}
			}
		}()
		seen := map[string]bool{}
		for range batch {
			id, line := p.next()
			if seen[id] {
				t.Fatalf("a second answer: %s", line)
			}
			seen[id] = true
			n := 0
			_ = json.Unmarshal([]byte(strings.Trim(id, `"`)), &n)
			if own := fmt.Sprintf(`"<%d>"`, n); n%4 != 0 && !strings.Contains(line, own) {
				t.Fatalf("another's answer: %s", line)
			}
		}
		sent += batch
	}
}
