package dispatch

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

func hangs(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A caller that sets no deadline gets one, and without a budget of its own a
// tool has what a person will wait for.
func TestL9_ACallerWithoutADeadlineGetsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil, safe("hangs", hangs))
		start := time.Now()
		r := d.Run(context.Background(), Call{Tool: "hangs"})[0]
		if r.Code != tool.CodeTimeout || time.Since(start) != tool.DefaultTimeout {
			t.Errorf("%q after %s", r.Code, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		r := open(t, nil, safe("hangs", hangs)).Run(ctx, Call{Tool: "hangs"})[0]
		if r.Code != tool.CodeTimeout || !strings.Contains(r.Text, "caller's own deadline") {
			t.Errorf("the caller's deadline: %q %s", r.Code, r.Text)
		}
	})
}

// A question to a person has no deadline, neither that of the tool nor that
// of the session, and an end of the session withdraws it for good.
func TestL10_WaitingForAPersonHasNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := safe("asks", func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
			select {
			case <-time.After(100 * time.Hour):
				return tool.Text("blue"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		asks.spec.WaitsForPerson = true
		var pending, ran atomic.Int32
		quick := exclusive("quick", func(context.Context, *tool.Call) (*tool.Result, error) { ran.Add(1); return tool.Text("ok"), nil })
		quick.spec.Timeout = time.Second
		d := open(t, func(c *Config) {
			c.Timeout, c.Judge = time.Minute, judge(t, permission.Config{Allow: []string{"asks"}}, asks)
			c.Approver = func(ctx context.Context, r permission.Request) (permission.Answer, error) {
				pending.Add(1)
				defer pending.Add(-1)
				select {
				case <-time.After(100 * time.Hour):
				case <-ctx.Done():
				}
				return permission.Answer{Allow: true, Digest: r.Digest}, nil
			}
		}, asks, quick)
		if got := codes(d.Run(t.Context(), Call{Tool: "asks"}, Call{Tool: "quick"})); got != "ok ok" || ran.Load() != 1 {
			t.Fatalf("patient calls: %s, ran %d", got, ran.Load())
		}
		done := make(chan string)
		go func() { done <- codes(d.Run(t.Context(), Call{Tool: "asks"}, Call{Tool: "quick"})) }()
		time.Sleep(time.Hour)
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if got := <-done; got != "cancelled cancelled" {
			t.Error(got)
		}
		synctest.Wait()
		if pending.Load() != 0 || ran.Load() != 1 {
			t.Errorf("%d questions are left over, the tool ran %d times", pending.Load(), ran.Load())
		}
	})
}

// A tool whose own limit equals the session's says what it has found; the
// outer limit does not take that away.
func TestL13_LastWordsSurviveTheDeadline(t *testing.T) {
	const words = "3 packages checked, 2 left"
	for name, end := range map[string]func() (*tool.Result, error){
		"an error":  func() (*tool.Result, error) { return nil, tool.Errorf(tool.CodeTimeout, words) },
		"a failure": func() (*tool.Result, error) { return &tool.Result{Code: tool.CodeTimeout, Text: words}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				synctest.Test(t, func(t *testing.T) {
					d := open(t, nil, safe("check", func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
						select {
						case <-time.After(tool.DefaultTimeout):
						case <-ctx.Done():
						}
						return end()
					}))
					r := d.Run(t.Context(), Call{Tool: "check"})[0]
					if r.Code != tool.CodeTimeout || !strings.HasPrefix(r.Text, words) {
						t.Fatalf("%q %q", r.Code, r.Text)
					}
				})
			}
		})
	}
}
