package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

const (
	// MaxProcesses is how many commands of a session may be kept at once,
	// those included that have ended and were not asked about. Codex keeps as
	// many.
	MaxProcesses = 64

	// IdleLimit is how long a command may run in the background without
	// anybody asking about it.
	IdleLimit = 30 * time.Minute

	// protected is how many of those that were used last are not ended to
	// make room.
	protected = 8

	// maxGone is how many ids of commands that are gone are remembered, to be
	// able to say what became of them.
	maxGone = 256

	// collectEvery is how often idle commands are looked for.
	collectEvery = 30 * time.Second

	// The ids are four or five digits, drawn by chance: one that a model
	// remembers from long ago must not mean another command.
	firstID, lastID = 1000, 99999
)

// A Place is where a command runs: the fence, and the folder that it began
// in.
type Place struct {
	Fence sandbox.Fence
	Dir   string
	// Outside says that a person let it out of the session's fence.
	Outside bool
}

// An Entry is a command that runs on after the call that started it.
type Entry struct {
	*Process
	// ID is by which the session knows it.
	ID int
	// Command is its text, Tool the tool that started it.
	Command, Tool string
	Place
	// Typed is what it was given and may not have taken yet.
	Typed Typed

	turn     chan struct{} // held by whoever talks to it
	lastUsed time.Time     // guarded by the table
}

// A Table holds the commands of one session that run on after the call that
// started them. No other session can reach them. Its methods may be called
// from several goroutines at once; it is made by [NewTable] and must be
// closed.
type Table struct {
	mu      sync.Mutex
	entries map[int]*Entry
	gone    map[int]string // what became of those that are no longer kept
	order   []int          // of gone, oldest first
	closed  bool
	started bool // the collector

	quit chan struct{}
	done sync.WaitGroup
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{entries: map[int]*Entry{}, gone: map[int]string{}, quit: make(chan struct{})}
}

// ErrTableClosed says that the session is over.
var ErrTableClosed = errors.New("the session is closed")

// Add keeps a command. Where the table is full, another is ended to make
// room: one that has ended already, else the one that was used least
// recently.
func (t *Table) Add(p *Process, tool, command string, in Place) (*Entry, error) {
	e := &Entry{Process: p, Place: in, Command: command, Tool: tool, turn: make(chan struct{}, 1), lastUsed: time.Now()}
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil, ErrTableClosed
	}
	var victim *Entry
	if len(t.entries) >= MaxProcesses {
		victim = t.victim()
		t.forget(victim, fmt.Sprintf("it was ended to make room: a session keeps %d commands", MaxProcesses))
	}
	for e.ID == 0 || t.entries[e.ID] != nil || t.gone[e.ID] != "" {
		e.ID = firstID + rand.IntN(lastID-firstID+1)
	}
	t.entries[e.ID] = e
	if !t.started {
		t.started = true
		t.done.Go(t.collect)
	}
	t.mu.Unlock()
	if victim != nil {
		_ = victim.Stop("ended by the limit of commands in a session")
		victim.Output().Close()
	}
	return e, nil
}

// victim chooses what makes room. t.mu is held.
func (t *Table) victim() *Entry {
	list := t.sorted()
	old := list[:max(1, len(list)-protected)]
	for _, e := range old {
		if !e.Left() {
			return e
		}
	}
	return old[0]
}

// sorted lists the entries, the one that was used least recently first.
func (t *Table) sorted() []*Entry {
	list := make([]*Entry, 0, len(t.entries))
	for _, e := range t.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *Entry) int {
		return cmp.Or(a.lastUsed.Compare(b.lastUsed), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// forget drops an entry and remembers why. t.mu is held.
func (t *Table) forget(e *Entry, why string) {
	delete(t.entries, e.ID)
	t.gone[e.ID] = why
	t.order = append(t.order, e.ID)
	if len(t.order) > maxGone {
		delete(t.gone, t.order[0])
		t.order = t.order[1:]
	}
}

// Talk takes the turn to talk to a command: two that poll it at once would
// each get half of what it says. done gives the turn back. The error says
// what became of one that is not there.
func (t *Table) Talk(ctx context.Context, id int) (e *Entry, done func(), err error) {
	t.mu.Lock()
	e = t.entries[id]
	why := t.gone[id]
	t.mu.Unlock()
	switch {
	case e == nil && why != "":
		return nil, nil, fmt.Errorf("the command %d is gone: %s", id, why)
	case e == nil:
		return nil, nil, fmt.Errorf("there is no command %d in this session%s", id, t.others())
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entries[id] != e {
		<-e.turn
		return nil, nil, fmt.Errorf("the command %d is gone: %s", id, t.gone[id])
	}
	e.lastUsed = time.Now()
	return e, func() { <-e.turn }, nil
}

// others names the commands that there are.
func (t *Table) others() string {
	list := t.List()
	if len(list) == 0 {
		return "; none runs"
	}
	text := "; there are"
	for i, e := range list {
		if i == 8 {
			return text + fmt.Sprintf(" and %d more", len(list)-i)
		}
		text += fmt.Sprintf(" %d", e.ID)
	}
	return text
}

// Outside reports whether a command of that id runs outside of the session's
// fence.
func (t *Table) Outside(id int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[id]
	return e != nil && e.Place.Outside
}

// Find returns the command that a tool started under a text, or nil.
func (t *Table) Find(tool, command string) *Entry {
	for _, e := range t.List() {
		if e.Tool == tool && e.Command == command {
			return e
		}
	}
	return nil
}

// Remove drops a command whose end was told, with what is to be said to
// whoever asks for it again, and frees what it holds.
func (t *Table) Remove(e *Entry, why string) {
	t.mu.Lock()
	if t.entries[e.ID] == e {
		t.forget(e, why)
	}
	t.mu.Unlock()
	_ = e.Close()
}

// List returns the commands, the one that was used last first.
func (t *Table) List() []*Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.sorted()
	slices.Reverse(list)
	return list
}

// Running reports whether any command may still change files.
func (t *Table) Running() bool {
	return slices.ContainsFunc(t.List(), func(e *Entry) bool { return e.Left() })
}

// collect ends what nobody has asked about for long.
func (t *Table) collect() {
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.quit:
			return
		case <-tick.C:
			t.endIdle(time.Now().Add(-IdleLimit))
		}
	}
}

func (t *Table) endIdle(before time.Time) {
	t.mu.Lock()
	var idle []*Entry
	for _, e := range t.sorted() {
		if e.lastUsed.Before(before) && len(e.turn) == 0 {
			t.forget(e, fmt.Sprintf("nobody asked about it for %s, so it was ended", IdleLimit))
			idle = append(idle, e)
		}
	}
	t.mu.Unlock()
	for _, e := range idle {
		_ = e.Close()
	}
}

// Close ends every command and returns when none is left.
func (t *Table) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	close(t.quit)
	list := t.sorted()
	clear(t.entries)
	t.mu.Unlock()
	t.done.Wait()
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, e := range list {
		all.Go(func() { errs[i] = e.Close() })
	}
	all.Wait()
	return errors.Join(errs...)
}
