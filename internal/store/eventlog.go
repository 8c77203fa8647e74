package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
)

// The defaults of [Options] for the event log.
const (
	// DefaultEventAge is how long events are kept: long enough to ask what
	// an agent did a quarter ago.
	DefaultEventAge = 90 * 24 * time.Hour
	// DefaultEventBytes is how much the log may weigh, some half a million
	// events.
	DefaultEventBytes = 256 << 20
)

const (
	dayFormat = "2006-01-02"
	logSuffix = ".jsonl"

	// maxLogFile is the size in bytes at which the log goes on in the next
	// file of the day, so that old events can be removed in pieces.
	maxLogFile = 16 << 20
)

// eventLog is the log of events: files of JSON lines, named by the day in
// UTC and a number. Every process appends each event with one write, so lines
// of several processes do not mix and a kill loses nothing.
type eventLog struct {
	dir      *statedir.Dir
	maxAge   time.Duration
	maxBytes int64

	mu   sync.Mutex
	file *os.File
	day  int64 // the file's, in days since 1970
	left int64 // how many bytes may be written before the file is looked at again
	torn bool  // whether the file ends within a line
	buf  []byte
}

func newEventLog(d *statedir.Dir, maxAge time.Duration, maxBytes int64) *eventLog {
	return &eventLog{dir: d, maxAge: maxAge, maxBytes: maxBytes}
}

func (l *eventLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return l.dir.Close()
	}
	return errors.Join(l.file.Close(), l.dir.Close())
}

// Append records an event. The zero time means now. When it returns, the
// event would survive a kill of the process. A field that is too long is
// clipped, and the event says so.
func (s *Store) Append(e Event) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.life.RUnlock()
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if err := s.events.append(&e); err != nil {
		return fmt.Errorf("recording an event: %w", err)
	}
	return nil
}

func (l *eventLog) append(e *Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if day := e.Time.Unix() / (24 * 60 * 60); l.file == nil || day != l.day || l.left <= 0 {
		if err := l.turn(e.Time, day); err != nil {
			return err
		}
	}
	l.buf = l.buf[:0]
	if l.torn {
		l.buf = append(l.buf, '\n')
	}
	l.buf = appendEvent(l.buf, e)
	n, err := l.file.Write(l.buf)
	l.left -= int64(n)
	l.torn = err != nil && (n > 0 || l.torn)
	return err
}

// turn opens the file for an event of that day: the last one that has room.
// Where it makes a new one, old ones are removed.
func (l *eventLog) turn(at time.Time, day int64) error {
	if l.file != nil {
		if err := l.file.Close(); err != nil {
			return err
		}
		l.file = nil
	}
	names, err := l.names()
	if err != nil {
		return err
	}
	prefix := at.UTC().Format(dayFormat) + "."
	n := 0
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			n = max(n, fileNumber(name))
		}
	}
	for ; ; n++ {
		f, err := l.dir.OpenFile(fmt.Sprintf("%s%04d%s", prefix, n, logSuffix), os.O_RDWR|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil || info.Size() >= maxLogFile {
			if err := errors.Join(err, f.Close()); err != nil {
				return err
			}
			continue
		}
		// Others write too, so the file is looked at again after a part.
		l.file, l.day, l.left = f, day, min(maxLogFile-info.Size(), maxLogFile/16)
		if info.Size() == 0 {
			l.torn = false
			return l.prune(names)
		}
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return err
		}
		l.torn = last[0] != '\n'
		return nil
	}
}

// names lists the files of the log, the oldest first.
func (l *eventLog) names() ([]string, error) {
	all, err := l.dir.Names()
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(all, func(name string) bool { return fileNumber(name) < 0 })
	slices.Sort(names)
	return names, nil
}

// fileNumber returns the number in a name like 2026-11-30.0002.jsonl, or -1
// where it is none.
func fileNumber(name string) int {
	day, rest, ok := strings.Cut(strings.TrimSuffix(name, logSuffix), ".")
	if _, err := time.Parse(dayFormat, day); !ok || err != nil || !strings.HasSuffix(name, logSuffix) || len(rest) < 4 {
		return -1
	}
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// prune removes the files that exceed the limits, the oldest first.
func (l *eventLog) prune(names []string) error {
	oldest := time.Now().Add(-l.maxAge).UTC().Format(dayFormat)
	var size int64
	for _, name := range slices.Backward(names) {
		f, err := l.dir.OpenFile(name, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) { // another process was first
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if size += info.Size(); size <= l.maxBytes && name >= oldest {
			continue
		}
		if err := l.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
