package process

import "sync"

// Typed is what was typed into a command and is not over yet: the beginning
// of a line, or of what goes over several. It is safe for concurrent use.
type Typed struct {
	mu      sync.Mutex
	text    string
	unclear string
}

// Get returns the text and, if not "", why it does not say what the command
// has before it.
func (t *Typed) Get() (text, unclear string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text, t.unclear
}

// Set replaces both. The caller bounds the text.
func (t *Typed) Set(text, unclear string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text, t.unclear = text, unclear
}

// Look returns the command of that id without taking the turn to talk to it,
// or nil.
func (t *Table) Look(id int) *Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[id]
}
