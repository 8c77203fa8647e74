package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// progress shows what runs on one line of a terminal, which it clears again.
// A progress without a terminal shows nothing. It is safe for concurrent
// use.
type progress struct {
	mu    sync.Mutex
	to    io.Writer
	faint func(string) string
	shown bool
	held  bool
}

// newProgress returns the progress line of this terminal.
func (t *terminal) newProgress() *progress {
	p := &progress{to: io.Discard, faint: t.faint}
	if t.errTTY {
		p.to = t.err
	}
	return p
}

func (p *progress) observe(e handrail.Event) {
	switch e.Phase {
	case handrail.PhaseStarted:
		p.show(e.Tool + " …")
	case handrail.PhaseProgress:
		p.show(e.Tool + " " + progressText(e.Progress))
	case handrail.PhaseFinished:
		p.clear()
	}
}

func progressText(p tool.Progress) string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%.0f/%.0f %s", p.Done, p.Total, p.Message)
	case p.Done > 0:
		return fmt.Sprintf("%.0f %s", p.Done, p.Message)
	default:
		return p.Message
	}
}

// show replaces the line. It is cut where a terminal of the usual width
// would wrap it, since a line that wrapped cannot be taken back.
func (p *progress) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return
	}
	fmt.Fprint(p.to, "\r\x1b[K", p.faint(tool.ClipText(visible(text), 78)))
	p.shown = true
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearLocked()
}

func (p *progress) clearLocked() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.shown = false
	}
}

// hold clears the line and keeps it away until release: a person is being
// asked something.
func (p *progress) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearLocked()
	p.held = true
}

func (p *progress) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
}
