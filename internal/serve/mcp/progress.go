package mcp

import "github.com/handrail-tools/handrail/tool"

// reporter sends one call's progress to its client. The tool never waits for
// the client: a report that finds the row full is dropped, since the next
// one tells more.
type reporter struct {
	reports chan tool.Progress
	quit    chan struct{}
	ended   chan struct{}
}

// newReporter returns a reporter that sends with send, one after the other.
// It must be stopped.
func newReporter(send func(tool.Progress)) *reporter {
	r := &reporter{reports: make(chan tool.Progress, 16), quit: make(chan struct{}), ended: make(chan struct{})}
	go r.run(send)
	return r
}

func (r *reporter) run(send func(tool.Progress)) {
	defer close(r.ended)
	last := -1.0
	pass := func(p tool.Progress) {
		if p.Done > last { // progress must grow
			last = p.Done
			send(p)
		}
	}
	for {
		select {
		case p := <-r.reports:
			pass(p)
		case <-r.quit:
			for len(r.reports) > 0 {
				pass(<-r.reports)
			}
			return
		}
	}
}

func (r *reporter) report(p tool.Progress) {
	select {
	case r.reports <- p:
	default:
	}
}

// stop sends what is left and waits until it is sent: nothing may follow the
// call's answer. A reporter that is nil has nothing to send.
func (r *reporter) stop() {
	if r == nil {
		return
	}
	close(r.quit)
	<-r.ended
}
