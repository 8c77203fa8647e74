package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// pruneBatch is how many results are removed in one transaction, so that
	// other processes never wait for long; pruneRounds is how many such
	// transactions one visit makes. More is left to the next visit.
	pruneBatch  = 64
	pruneRounds = 32
)

// tend adopts what ended processes have left, and removes what exceeds the
// limits and what nothing refers to. It does so at most once in a
// [tendInterval].
func (s *Store) tend(ctx context.Context) error {
	s.mu.Lock()
	due := time.Since(s.tended) >= tendInterval
	if due {
		s.tended = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	if err := s.adoptAll(ctx); err != nil {
		return fmt.Errorf("adopting journals: %w", err)
	}
	db, err := s.index.open(ctx, false)
	if db == nil || err != nil {
		return err
	}
	var loose []string
	for range pruneRounds {
		sums, more, err := s.prune(ctx, db)
		if err != nil {
			return fmt.Errorf("removing old results: %w", err)
		}
		if loose = append(loose, sums...); !more {
			break
		}
	}
	if err := s.removeBlobs(ctx, db, loose); err != nil {
		return fmt.Errorf("removing old content: %w", err)
	}
	if err := s.sweep(ctx, db); err != nil {
		return fmt.Errorf("sweeping content: %w", err)
	}
	return nil
}

// prune removes up to a batch of the oldest results beyond the limits. It
// returns the names of the blobs they had, and whether more are to go.
func (s *Store) prune(ctx context.Context, db *sql.DB) (sums []string, more bool, err error) {
	err = within(ctx, db, func(tx *sql.Tx) error {
		var entries, size int64
		if err := tx.QueryRowContext(ctx, "SELECT entries, bytes FROM totals").Scan(&entries, &size); err != nil {
			return err
		}
		oldest := time.Now().Add(-s.opts.MaxAge).UnixNano()
		rows, err := tx.QueryContext(ctx, "SELECT n, created, size FROM entries ORDER BY created LIMIT ?", pruneBatch)
		if err != nil {
			return err
		}
		var gone []int64
		left, leftSize := entries, size
		for rows.Next() {
			var n, created, own int64
			if err := rows.Scan(&n, &created, &own); err != nil {
				return errors.Join(err, rows.Close())
			}
			if created >= oldest && left <= s.opts.MaxEntries && leftSize <= s.opts.MaxBytes {
				break
			}
			gone = append(gone, n)
			left--
			leftSize -= own
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(gone) == 0 {
			return err
		}
		more = len(gone) == pruneBatch
		if sums, err = removeEntries(ctx, tx, gone); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE totals SET entries = ?, bytes = ?", left, leftSize)
		return err
	})
	return sums, more, err
}

// removeEntries deletes rows, and returns the names of the blobs they had.
func removeEntries(ctx context.Context, tx *sql.Tx, entries []int64) (sums []string, err error) {
	for _, n := range entries {
		if _, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE n = ?", n); err != nil {
			return nil, err
		}
		rows, err := tx.QueryContext(ctx, "DELETE FROM parts WHERE entry = ? RETURNING coalesce(sum, '')", n)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var sum string
			if err := rows.Scan(&sum); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			if sum != "" {
				sums = append(sums, sum)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// sweep looks through one of the directories of blobs, another each time,
// for what a crash has left: content without a result, and halves.
func (s *Store) sweep(ctx context.Context, db *sql.DB) error {
	var n int
	if err := db.QueryRowContext(ctx, "UPDATE totals SET swept = (swept + 1) % 256 RETURNING swept").Scan(&n); err != nil {
		return err
	}
	d, err := s.blobs.shard(fmt.Sprintf("%02x", n))
	if err != nil {
		return err
	}
	names, err := d.Names()
	if err != nil {
		return err
	}
	return s.removeBlobs(ctx, db, names)
}

// removeBlobs removes those of the files that no result refers to, neither
// in the index nor in a journal, and that have not been touched within the
// [grace].
func (s *Store) removeBlobs(ctx context.Context, db *sql.DB, names []string) error {
	var old []string
	for _, name := range names {
		if age, err := s.blobs.age(name); err != nil {
			return err
		} else if age > grace {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return nil
	}
	// Nobody can put content while this lock is held, so what is loose now
	// stays so until it is removed.
	held, err := s.blobs.lock(false)
	if held == nil || err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	journals, err := s.readJournals()
	if err != nil {
		return err
	}
	for _, name := range old {
		used, err := isUsed(ctx, db, journals, name)
		if err != nil {
			return err
		}
		// The age is asked again: it may have been touched before the lock.
		if age, err := s.blobs.age(name); err != nil {
			return err
		} else if used || age <= grace {
			continue
		}
		if err := s.blobs.remove(name); err != nil {
			return err
		}
	}
	return nil
}

func isUsed(ctx context.Context, db *sql.DB, journals []byte, sum string) (bool, error) {
	if bytes.Contains(journals, []byte(sum)) {
		return true, nil
	}
	used := false
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM parts WHERE sum = ?)", sum).Scan(&used)
	return used, err
}

// readJournals returns the text of all journals.
func (s *Store) readJournals() ([]byte, error) {
	var all bytes.Buffer
	err := eachJournal(s.journal, func(f *os.File) (bool, error) {
		_, err := all.ReadFrom(f)
		return false, err
	})
	return all.Bytes(), err
}

// age is how long ago the file was written or touched. One that is gone, or
// is not ours to remove, counts as new.
func (b *blobs) age(name string) (time.Duration, error) {
	d, err := b.shardOf(name)
	if d == nil || err != nil {
		return 0, err
	}
	f, err := d.OpenFile(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return time.Since(info.ModTime()), nil
}

func (b *blobs) remove(name string) error {
	d, err := b.shardOf(name)
	if d == nil || err != nil {
		return err
	}
	if err := d.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
