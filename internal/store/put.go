package store

import (
	"context"
	"fmt"
	"sync"
)

// Put keeps a result and returns the id under which it can be had again,
// from this store at once and from other processes once it is written.
func (s *Store) Put(ctx context.Context, e Entry) (id string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := s.enter(); err != nil {
		return "", err
	}
	defer s.life.RUnlock()
	if err := e.check(); err != nil {
		return "", err
	}
	r := newRecord(&e)
	if e.Durable || !s.enqueue(r) {
		if err := s.write([]*record{r}); err != nil {
			return "", fmt.Errorf("keeping a result: %w", err)
		}
	}
	s.start.Do(func() { go s.run() })
	signal(s.wake)
	return r.ID, nil
}

// enqueue leaves r to the goroutine. It reports false where there is no room.
func (s *Store) enqueue(r *record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= maxQueue || s.queueBytes+r.size() > maxQueueBytes {
		return false
	}
	s.queue = append(s.queue, r)
	s.queueBytes += r.size()
	s.pending[r.ID] = r
	return true
}

// flush writes what is in the queue.
func (s *Store) flush() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	batch := s.queue
	s.queue, s.queueBytes = nil, 0
	s.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	return s.write(batch)
}

// write puts the records into this process's journal with one write, their
// large parts into blobs before.
func (s *Store) write(batch []*record) (err error) {
	defer func() {
		if err != nil { // what is not kept must not be promised
			s.forget(batch)
		}
	}()
	buf := lineBuffers.Get().(*[]byte)
	lines := (*buf)[:0]
	defer func() {
		if cap(lines) <= maxLineBuffer {
			*buf = lines
			lineBuffers.Put(buf)
		}
	}()
	spilled := int64(0)
	for i, r := range batch {
		kept, n, err := s.spill(r)
		if err != nil {
			return err
		}
		if lines, err = appendRecord(lines, kept); err != nil {
			return err
		}
		batch[i] = kept
		spilled += n
	}
	// They are pending before they can be in the index, or they would be so
	// for ever.
	s.mu.Lock()
	for _, r := range batch {
		s.pending[r.ID] = r
	}
	s.mu.Unlock()
	return s.writeLines(lines, batch, spilled)
}

// lineBuffers holds buffers of up to maxLineBuffer bytes for the next lines.
var lineBuffers = sync.Pool{New: func() any { return new([]byte) }}

const maxLineBuffer = 1 << 20

func (s *Store) forget(batch []*record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range batch {
		delete(s.pending, r.ID)
	}
}

func (s *Store) writeLines(lines []byte, batch []*record, spilled int64) error {
	s.own.Lock()
	defer s.own.Unlock()
	if s.own.journal == nil {
		j, err := acquireJournal(s.journal)
		if err != nil {
			return fmt.Errorf("taking a journal: %w", err)
		}
		s.own.journal = j
	}
	if err := s.own.write(lines); err != nil {
		return err
	}
	s.own.journal.own = append(s.own.journal.own, batch...)
	s.own.spilled += spilled
	if s.own.full() {
		signal(s.full)
	}
	return nil
}

// spill returns r with its content where it is kept: small parts in the
// record, large ones in blobs.
func (s *Store) spill(r *record) (kept *record, spilled int64, err error) {
	kept = new(record)
	*kept = *r
	kept.Parts = make([]part, len(r.Parts))
	for i, p := range r.Parts {
		if p.Sum != "" { // it is in a blob already
			spilled += p.Size
		} else if p.Size <= inline {
			p.Data = []byte(p.text)
		} else if p.Sum, err = s.blobs.put(p.text); err != nil {
			return nil, 0, fmt.Errorf("writing content: %w", err)
		} else {
			spilled += p.Size
		}
		p.text = ""
		kept.Parts[i] = p
	}
	return kept, spilled, nil
}
