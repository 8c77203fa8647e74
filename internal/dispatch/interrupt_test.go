package dispatch

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// TestNothingStartsAfterTheCallerGaveUp: the caller's cancellation reaches
// the calls of a batch one by one, and one that is told first must not make
// room for one that is not told yet.
func TestNothingStartsAfterTheCallerGaveUp(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var started atomic.Int32
			d := open(t, nil, exclusive("x", func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
				started.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}))
			time.AfterFunc(time.Second, cancel)
			d.Run(ctx, make20("x")...)
			if n := started.Load(); n != 1 {
				t.Fatalf("%d calls were started, the others after the cancellation", n)
			}
		})
	}
}

func make20(name string) []Call {
	calls := make([]Call, 20)
	for i := range calls {
		calls[i].Tool = name
	}
	return calls
}
