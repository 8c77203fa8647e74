package mcp

import (
	"context"

	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reporter sends one call's progress to its client. The tool never waits for
// the client: a report that finds the row full is dropped, since the next
// one tells more.
type reporter struct {
	reports chan tool.Progress
	quit    chan struct{}
	ended   chan struct{}
}

func newReporter(ctx context.Context, session *mcp.ServerSession, token any) *reporter {
	r := &reporter{reports: make(chan tool.Progress, 16), quit: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		last := -1.0
		send := func(p tool.Progress) {
			if p.Done <= last {
				return // progress must grow
			}
			last = p.Done
			// A client that cannot take a report loses only the report.
			_ = session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Message: p.Message, Progress: p.Done, Total: p.Total,
			})
		}
		for {
			select {
			case p := <-r.reports:
				send(p)
			case <-r.quit:
				for len(r.reports) > 0 {
					send(<-r.reports)
				}
				return
			}
		}
	}()
	return r
}

func (r *reporter) report(p tool.Progress) {
	select {
	case r.reports <- p:
	default:
	}
}

// stop sends what is left and waits until it is sent: nothing may follow the
// call's answer.
func (r *reporter) stop() {
	close(r.quit)
	<-r.ended
}
