package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

// The defaults of [Options].
const (
	// DefaultMaxAge is how long a result is kept. Claude Code keeps its
	// transcripts for 30 days too.
	DefaultMaxAge = 30 * 24 * time.Hour
	// DefaultMaxBytes is how much all results may weigh: twenty thousand
	// results of the default output budget.
	DefaultMaxBytes = 1 << 30
	// DefaultMaxEntries is how many results are kept. A busy agent makes
	// some thousand calls a day.
	DefaultMaxEntries = 100_000
)

// Options are the limits of a store. The zero value means the defaults; they
// are applied by every process that uses the directory, so all of them
// should agree.
type Options struct {
	// MaxAge, MaxBytes and MaxEntries bound what the ledger keeps. The
	// oldest results go first. Content that several results share counts
	// for each of them.
	MaxAge     time.Duration
	MaxBytes   int64
	MaxEntries int64
	// EventAge and EventBytes bound the event log.
	EventAge   time.Duration
	EventBytes int64
	// Logger hears what goes wrong in the background. nil means nobody.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxAge <= 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxEntries <= 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	if o.EventAge <= 0 {
		o.EventAge = DefaultEventAge
	}
	if o.EventBytes <= 0 {
		o.EventBytes = DefaultEventBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

const (
	// indexDelay is how long a result waits in the journal of a process that
	// stays. A command that runs one call has ended by then.
	indexDelay = 2 * time.Second

	// closingSize is how many bytes of journal, or of new blobs, make a
	// process that ends pay for moving them into the index, so that a row of
	// short commands stays within the limits too.
	closingSize = 256 << 10

	// tendInterval is how often what is old is removed and what is left is
	// adopted, and how long a broken index is left alone.
	tendInterval = time.Minute

	// maxQueue and maxQueueBytes bound what waits to be written in the
	// background. A result that finds the queue full is written by its own
	// caller.
	maxQueue      = 256
	maxQueueBytes = 8 << 20
)

// ErrClosed is what a store that was closed answers.
var ErrClosed = errors.New("the store is closed")

// Store is one process's use of a state directory. It may be used from
// several goroutines at once. It is made by [Open] and must be closed.
type Store struct {
	opts    Options
	dir     *statedir.Dir
	journal *statedir.Dir
	blobs   *blobs
	events  *eventLog

	// life is held for reading by whatever uses the directory.
	life   sync.RWMutex
	closed bool
	start  sync.Once // of the goroutine

	// flushing and settling let whoever asks for either wait until what was
	// there before is done.
	flushing, settling sync.Mutex

	mu         sync.Mutex
	tended     time.Time
	pending    map[string]*record // this process's results that are not in the index
	queue      []*record          // those of them that are not in a journal either
	queueBytes int64

	own struct { // the journal that this process writes
		sync.Mutex
		*journal
		spilled int64 // bytes of new blobs
	}

	index index

	wake, full, quit, done chan struct{}
}

// Open opens the state directory and makes it where it is missing. It costs
// a few system calls: no database is opened before something needs it. The
// directory must be ours alone: a link, or one that another user owns, is
// refused, and what rights others have on ours are taken away.
func Open(path string, opts Options) (*Store, error) {
	root, err := statedir.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the state directory: %w", err)
	}
	s := &Store{
		opts: opts.withDefaults(), dir: root, pending: map[string]*record{},
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	var subs [3]*statedir.Dir
	for i, name := range [...]string{"journal", "blobs", "events"} {
		if subs[i], err = root.Sub(name); err != nil {
			for _, d := range subs[:i] {
				_ = d.Close()
			}
			_ = root.Close()
			return nil, fmt.Errorf("opening the state directory: %w", err)
		}
	}
	s.journal, s.blobs = subs[0], &blobs{dir: subs[1]}
	s.events = newEventLog(subs[2], s.opts.EventAge, s.opts.EventBytes)
	s.index.dir = root
	return s, nil
}

// Close writes what waits in the background and gives the directory up. It
// returns what could not be written. Later calls answer [ErrClosed].
func (s *Store) Close() error {
	s.life.Lock()
	if s.closed {
		s.life.Unlock()
		return ErrClosed
	}
	s.closed = true
	s.life.Unlock()
	s.start.Do(func() { close(s.done) }) // where it has not been started
	close(s.quit)
	<-s.done
	err := s.flush()

	s.own.Lock()
	j, spilled := s.own.journal, s.own.spilled
	s.own.Unlock()
	if j != nil && (s.index.isOpen() || j.size >= closingSize || spilled >= closingSize) {
		err = errors.Join(err, s.settle(context.Background()))
	} else if j != nil {
		err = errors.Join(err, j.close())
	}
	return errors.Join(err, s.index.close(), s.blobs.close(), s.events.close(), s.journal.Close(), s.dir.Close())
}

// enter begins a use of the store, which ends with life.RUnlock.
func (s *Store) enter() error {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return ErrClosed
	}
	return nil
}

// run is the store's one goroutine. It ends when the store is closed.
func (s *Store) run() {
	defer close(s.done)
	timer := time.NewTimer(0)
	<-timer.C
	armed := false
	var after time.Time // when the index may be tried again
	for {
		select {
		case <-s.quit:
			return
		case <-s.wake:
			if err := s.flush(); err != nil {
				s.opts.Logger.Error("results could not be written to the ledger", "error", err)
			}
			if !armed {
				timer.Reset(indexDelay)
				armed = true
			}
			continue
		case <-s.full:
		case <-timer.C:
			armed = false
		}
		if time.Now().Before(after) {
			continue
		}
		if err := s.settle(context.Background()); err != nil {
			s.opts.Logger.Error("the ledger's index could not be written", "error", err)
			after = time.Now().Add(tendInterval)
		}
	}
}

// signal wakes the goroutine without waiting for it.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// settle moves this process's journal into the index, adopts what ended
// processes have left, and removes what exceeds the limits.
func (s *Store) settle(ctx context.Context) error {
	s.settling.Lock()
	defer s.settling.Unlock()
	s.own.Lock()
	j := s.own.journal
	s.own.journal = nil
	s.own.Unlock()
	if j != nil {
		if err := s.move(ctx, j); err != nil {
			return err
		}
	}
	return s.tend(ctx)
}

// move puts what is in j into the index and gives j up. On an error the
// records stay in j, where readers find them, for whoever adopts it.
func (s *Store) move(ctx context.Context, j *journal) error {
	err := s.index.absorb(ctx, j)
	if err == nil {
		err = j.empty()
	}
	err = errors.Join(err, j.close())
	s.mu.Lock()
	for _, r := range j.own {
		delete(s.pending, r.ID)
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("moving results into the index: %w", err)
	}
	return nil
}

// adoptAll moves the journals that no process holds into the index.
func (s *Store) adoptAll(ctx context.Context) error {
	names, err := s.journal.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := s.journal.OpenFile(name, os.O_RDWR|os.O_APPEND)
		if err != nil {
			return err
		}
		j, err := adopt(f)
		switch {
		case err != nil || j == nil:
			err = errors.Join(err, f.Close())
		case j.size == 0:
			err = j.close()
		default:
			err = s.move(ctx, j)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
