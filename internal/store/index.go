package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/handrail-tools/handrail/internal/statedir"
)

const indexName = "ledger.db"

// schemaVersion is the version of the tables. An index of a later version is
// refused: what wrote it may keep promises that this code does not know.
const schemaVersion = 1

const schema = `
CREATE TABLE entries (
	n         INTEGER PRIMARY KEY,
	id        TEXT    NOT NULL UNIQUE,
	created   INTEGER NOT NULL,
	size      INTEGER NOT NULL,
	session   TEXT    NOT NULL,
	workspace TEXT    NOT NULL,
	tool      TEXT    NOT NULL,
	call      TEXT    NOT NULL,
	verbatim  INTEGER NOT NULL,
	lines     INTEGER NOT NULL,
	metadata  BLOB
) STRICT;
CREATE INDEX entries_created ON entries (created);
CREATE TABLE parts (
	entry INTEGER NOT NULL,
	mime  TEXT    NOT NULL,
	size  INTEGER NOT NULL,
	data  BLOB,
	sum   TEXT
) STRICT;
CREATE INDEX parts_entry ON parts (entry);
CREATE INDEX parts_sum ON parts (sum) WHERE sum IS NOT NULL;
CREATE TABLE totals (entries INTEGER NOT NULL, bytes INTEGER NOT NULL, swept INTEGER NOT NULL) STRICT;
INSERT INTO totals VALUES (0, 0, 0);
`

// index is the SQLite database of the results. It is opened when something
// first needs it.
type index struct {
	dir *statedir.Dir
	mu  sync.Mutex
	db  *sql.DB
}

func (x *index) isOpen() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.db != nil
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db == nil {
		return nil
	}
	return x.db.Close()
}

// open returns the database. Without create, it returns nil where there is
// none.
func (x *index) open(ctx context.Context, create bool) (*sql.DB, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != nil {
		return x.db, nil
	}
	// SQLite gives its side files the rights of the database, and would
	// follow a link: so the files are checked, and the first is made, here.
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	f, err := x.dir.OpenFile(indexName, flag)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	for _, suffix := range [...]string{"-wal", "-shm"} {
		if f, err := x.dir.OpenFile(indexName+suffix, os.O_RDWR); err == nil {
			_ = f.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	dsn := url.URL{Scheme: "file", Path: filepath.Join(x.dir.Path(), indexName),
		RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepareSchema(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	x.db = db
	return db, nil
}

// prepareSchema makes the tables in a new database.
func prepareSchema(ctx context.Context, db *sql.DB) error {
	version := 0
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == schemaVersion {
		return nil
	}
	return within(ctx, db, func(tx *sql.Tx) error {
		// Another process may have been first.
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version == schemaVersion {
			return err
		}
		if version != 0 {
			return fmt.Errorf("it has version %d and this program knows %d", version, schemaVersion)
		}
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", schemaVersion))
		return err
	})
}

// within runs fn in a transaction that writes.
func within(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// absorb adds the records of a journal that are not there yet. The journal
// may then be emptied.
func (x *index) absorb(ctx context.Context, j *journal) error {
	records, err := j.records()
	if err != nil || len(records) == 0 {
		return err
	}
	db, err := x.open(ctx, true)
	if err != nil {
		return fmt.Errorf("opening %s: %w", indexName, err)
	}
	return within(ctx, db, func(tx *sql.Tx) error {
		in, err := newInserter(ctx, tx)
		if err != nil {
			return err
		}
		added, bytes := 0, int64(0)
		for _, r := range records {
			fresh, err := in.insert(ctx, r)
			if err != nil {
				return err
			}
			if fresh {
				added++
				bytes += r.size()
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE totals SET entries = entries + ?, bytes = bytes + ?", added, bytes)
		return err
	})
}

// inserter holds the two statements that add a record. They end with their
// transaction.
type inserter struct{ entry, part *sql.Stmt }

func newInserter(ctx context.Context, tx *sql.Tx) (in inserter, err error) {
	if in.entry, err = tx.PrepareContext(ctx, `INSERT OR IGNORE INTO entries
		(id, created, size, session, workspace, tool, call, verbatim, lines, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`); err != nil {
		return in, err
	}
	in.part, err = tx.PrepareContext(ctx, "INSERT INTO parts (entry, mime, size, data, sum) VALUES (?, ?, ?, ?, ?)")
	return in, err
}

// insert adds one record. It reports false where it is there already.
func (in inserter) insert(ctx context.Context, r *record) (fresh bool, err error) {
	res, err := in.entry.ExecContext(ctx, r.ID, r.Created, r.size(), r.Session, r.Workspace, r.Tool, r.Call, r.Verbatim, r.Lines, []byte(r.Metadata))
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	entry, err := res.LastInsertId()
	if err != nil {
		return false, err
	}
	for _, p := range r.Parts {
		sum := sql.NullString{String: p.Sum, Valid: p.Sum != ""}
		if _, err := in.part.ExecContext(ctx, entry, p.MIME, p.Size, p.Data, sum); err != nil {
			return false, err
		}
	}
	return true, nil
}

// lookup returns the record of that id, or nil.
func (x *index) lookup(ctx context.Context, id string) (*record, error) {
	db, err := x.open(ctx, false)
	if db == nil || err != nil {
		return nil, err
	}
	r := &record{ID: id}
	entry := int64(0)
	var metadata []byte
	err = db.QueryRowContext(ctx,
		"SELECT n, created, session, workspace, tool, call, verbatim, lines, metadata FROM entries WHERE id = ?", id).
		Scan(&entry, &r.Created, &r.Session, &r.Workspace, &r.Tool, &r.Call, &r.Verbatim, &r.Lines, &metadata)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Metadata = json.RawMessage(metadata)
	rows, err := db.QueryContext(ctx, "SELECT mime, size, data, coalesce(sum, '') FROM parts WHERE entry = ? ORDER BY rowid", entry)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var p part
		if err := rows.Scan(&p.MIME, &p.Size, &p.Data, &p.Sum); err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, p)
	}
	if err := rows.Err(); err != nil || len(r.Parts) == 0 {
		return nil, err // removed between the two questions
	}
	return r, nil
}
