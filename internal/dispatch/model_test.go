package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
	"pgregory.net/rapid"
)

// budget is the time budget of every tool in this file. Times are whole
// seconds of the bubble's clock, an interruption comes at a half.
const budget = 10 * time.Second

// fates are what may become of a call of the model.
var fates = []string{"ok", "fails", "refuses", "panics", "slow", "malformed", "denied", "unknown"}

// plan is one call of a random batch.
type plan struct {
	Class tool.Concurrency
	Key   string
	Fate  string
	Takes time.Duration
}

// course is what became of a call. A call that never ran has no times.
type course struct {
	Code       string
	Ran        bool
	Start, End time.Duration
}

func (p plan) conflicts(q plan) bool {
	if p.Class == tool.Exclusive || q.Class == tool.Exclusive {
		return true
	}
	return p.Class == tool.Keyed && q.Class == tool.Keyed && p.Key == q.Key
}

// predict says what becomes of each call, by the words of [Dispatcher.Run]
// alone: it walks the batch once and knows no queue. interrupt is when the
// caller gives up; 0 means never.
func predict(batch []plan, interrupt time.Duration) []course {
	out := make([]course, len(batch))
	placed := make([]bool, len(batch))
	leaves := make([]time.Duration, len(batch)) // when nobody waits for it any more
	for i, p := range batch {
		switch p.Fate {
		case "malformed":
			out[i].Code = "invalid_input"
			continue
		case "denied":
			out[i].Code = "denied"
			continue
		case "unknown":
			out[i].Code = "unknown_tool"
			continue
		}
		var ready time.Duration
		cancelled, refused := time.Duration(-1), false
		for j, q := range batch[:i] {
			if q.Fate == "denied" && q.Class == tool.Keyed {
				q.Key = "none: it was refused before its arguments were read"
			}
			if q.Fate == "unknown" || !q.conflicts(p) {
				continue
			}
			fatal := q.Class != tool.Safe && (out[j].Code == "denied" || out[j].Code == "failed" || out[j].Code == "panicked" || out[j].Code == "timeout")
			switch {
			case fatal && !placed[j]:
				refused = true
			case fatal && (cancelled < 0 || leaves[j] < cancelled):
				cancelled = leaves[j]
			}
			if placed[j] {
				ready = max(ready, leaves[j])
			}
		}
		if refused {
			out[i].Code = "cancelled"
			continue
		}
		placed[i] = true
		if cancelled >= 0 || interrupt > 0 && ready >= interrupt {
			out[i].Code, leaves[i] = "cancelled", cancelled
			if interrupt > 0 && (cancelled < 0 || cancelled > interrupt) {
				leaves[i] = interrupt
			}
			continue
		}
		out[i] = course{Ran: true, Start: ready, End: ready + p.Takes}
		out[i].Code = map[string]string{"ok": "ok", "fails": "failed", "refuses": "invalid_input", "panics": "panicked", "slow": "timeout"}[p.Fate]
		if p.Fate == "slow" {
			out[i].End = ready + budget
		}
		if interrupt > 0 && out[i].End > interrupt {
			out[i].Code, out[i].End = "cancelled", interrupt
		}
		leaves[i] = out[i].End
	}
	return out
}

// modelTools are one tool for each class and fate. They note in log when
// each call starts and ends.
func modelTools(log func(id string, end bool)) []tool.Tool {
	var tools []tool.Tool
	for _, class := range []tool.Concurrency{tool.Safe, tool.Exclusive, tool.Keyed} {
		for _, fate := range fates[:len(fates)-1] {
			run := func(ctx context.Context, c *tool.Call) (*tool.Result, error) {
				log(c.ID, false)
				defer log(c.ID, true)
				var in struct{ N int }
				if err := json.Unmarshal(c.Args, &in); err != nil {
					return nil, err
				}
				select {
				case <-time.After(time.Duration(in.N) * time.Second):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				switch fate {
				case "fails":
					return nil, errors.New("broken")
				case "refuses":
					return nil, tool.Invalidf("not like this")
				case "panics":
					panic("boom")
				}
				return tool.Text("done"), nil
			}
			tools = append(tools, fake{
				spec: tool.Spec{Name: fmt.Sprintf("%s-%s", class, fate), Effects: tool.Read, Concurrency: class, Timeout: budget},
				run:  run,
				key: func(args json.RawMessage) string {
					var in struct{ S string }
					if json.Unmarshal(args, &in) != nil {
						return "unreadable"
					}
					return in.S
				},
			})
		}
	}
	return tools
}

// observed runs the batch and says what became of each call, and how often
// each was reported started and finished.
func observed(t *testing.T, batch []plan, interrupt time.Duration) (out []course, events []string) {
	synctest.Test(t, func(t *testing.T) {
		out = make([]course, len(batch))
		reports := make([]string, len(batch))
		var mu sync.Mutex
		begin := time.Now()
		index := func(id string) (i int) {
			if _, err := fmt.Sscanf(id, "c%d", &i); err != nil {
				t.Error(err)
			}
			return i
		}
		log := func(id string, end bool) {
			mu.Lock()
			defer mu.Unlock()
			if c := &out[index(id)]; end {
				c.End = time.Since(begin)
			} else {
				c.Ran, c.Start = true, time.Since(begin)
			}
		}
		d := openDenied(t, func(c *Config) {
			c.Observe = func(e Event) {
				mu.Lock()
				defer mu.Unlock()
				reports[index(e.CallID)] += string(e.Phase) + " "
			}
		}, modelTools(log))
		ctx := t.Context()
		if interrupt > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			time.AfterFunc(interrupt, cancel)
		}
		for i, r := range d.Run(ctx, callsOf(batch)...) {
			out[i].Code = codes([]*tool.Result{r})
		}
		synctest.Wait()
		events = reports
	})
	return out, events
}

func callsOf(batch []plan) []Call {
	var calls []Call
	for i, p := range batch {
		c := Call{ID: fmt.Sprintf("c%d", i), Tool: fmt.Sprintf("%s-%s", p.Class, p.Fate)}
		c.Args = json.RawMessage(fmt.Sprintf(`{"n":%d,"s":%q}`, p.Takes/time.Second, p.Key))
		if p.Fate == "malformed" {
			c.Args = json.RawMessage(`{"n":"many"}`)
		}
		calls = append(calls, c)
	}
	return calls
}

// openDenied is open with a policy that denies the tools whose fate is so.
func openDenied(t *testing.T, edit func(*Config), tools []tool.Tool) *Dispatcher {
	r := registry.New()
	if err := r.AddAll(tools, registry.Options{}); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(policy.Config{Deny: []string{"safe-denied", "exclusive-denied", "keyed-denied"}}, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	view, err := registry.NewView(r, registry.ViewConfig{Policies: []*policy.Policy{p}})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, func(c *Config) { c.View = view; edit(c) })
}

// TestBatchAgainstModel runs random batches and compares codes, the times at
// which each call starts and ends, and the events, with the prediction.
func TestBatchAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		batch := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan {
			p := plan{
				Class: rapid.SampledFrom([]tool.Concurrency{tool.Safe, tool.Exclusive, tool.Keyed}).Draw(t, "class"),
				Key:   rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"),
				Fate:  "ok",
				Takes: time.Duration(rapid.IntRange(1, 4).Draw(t, "takes")) * time.Second,
			}
			if rapid.IntRange(0, 2).Draw(t, "is odd") == 0 {
				p.Fate = rapid.SampledFrom(fates).Draw(t, "fate")
			}
			if p.Fate == "slow" {
				p.Takes = 2 * budget
			}
			return p
		}), 1, 12).Draw(rt, "batch")
		var interrupt time.Duration
		if rapid.IntRange(0, 3).Draw(rt, "is interrupted") == 0 {
			interrupt = time.Duration(rapid.IntRange(0, 12).Draw(rt, "interrupt"))*time.Second + time.Second/2
		}
		want := predict(batch, interrupt)
		got, events := observed(t, batch, interrupt)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%+v, interrupted at %s (-model +dispatcher):\n%s", batch, interrupt, diff)
		}
		for i, c := range want {
			should := "finished "
			if c.Ran {
				should = "started finished "
			}
			if events[i] != should {
				rt.Fatalf("call %d of %+v: events %q, want %q", i, batch, strings.TrimSpace(events[i]), strings.TrimSpace(should))
			}
		}
	})
}
