package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/statedir"
)

const (
	// maxJournal is how large a journal may become, in bytes. It does so
	// only while the index cannot be written.
	maxJournal = 64 << 20

	// fullJournal is the size in bytes, and fullRecords the number of
	// records, at which a journal is moved into the index. They bound what
	// a reader scans and what a move writes at once.
	fullJournal = 4 << 20
	fullRecords = 1024
)

// journal is the file into which one process writes its results. The lock on
// it says that the process lives; without one, whoever comes next adopts it
// with what is in it.
type journal struct {
	file *os.File
	size int64
	// own are the records that this process wrote, which the index takes
	// from here. found says that there were others before.
	own   []*record
	found bool
}

// acquireJournal locks the first journal that no process holds.
func acquireJournal(d *statedir.Dir) (*journal, error) {
	for n := 0; ; n++ {
		f, err := d.OpenFile(strconv.Itoa(n), os.O_RDWR|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return nil, err
		}
		j, err := adopt(f)
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		if j != nil {
			return j, nil
		}
		_ = f.Close()
	}
}

// adopt locks the journal in f. It returns nil where another process has it.
func adopt(f *os.File) (*journal, error) {
	if ok, err := statedir.Lock(f, false, false); !ok || err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, size: info.Size(), found: info.Size() > 0}
	if j.size == 0 {
		return j, nil
	}
	// A line that a crash of the machine has torn must not spoil the next.
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, j.size-1); err != nil {
		return nil, err
	}
	if last[0] != '\n' {
		return j, j.write([]byte("\n"))
	}
	return j, nil
}

// write appends whole lines with one write, or nothing.
func (j *journal) write(lines []byte) error {
	if j.size+int64(len(lines)) > maxJournal {
		return fmt.Errorf("%s has %d bytes, and the index does not take them", j.file.Name(), j.size)
	}
	if _, err := j.file.Write(lines); err != nil {
		if cut := j.file.Truncate(j.size); cut != nil {
			return fmt.Errorf("%w; and taking back a part of a line: %w", err, cut)
		}
		return err
	}
	j.size += int64(len(lines))
	return nil
}

func (j *journal) full() bool { return j.size >= fullJournal || len(j.own) >= fullRecords }

// records returns all that is in the journal.
func (j *journal) records() ([]*record, error) {
	if !j.found {
		return j.own, nil
	}
	var all []*record
	err := readJournal(j.file, nil, func(r *record) { all = append(all, r) })
	return all, err
}

// close gives the journal up, with what is in it.
func (j *journal) close() error { return j.file.Close() }

// empty forgets what is in the journal.
func (j *journal) empty() error {
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	j.size = 0
	return nil
}

// appendRecord appends the record's line: the JSON of r, whose content is
// encoded where it ends up, since it is most of the line.
func appendRecord(b []byte, r *record) ([]byte, error) {
	head := *r
	head.Parts = nil
	line, err := json.Marshal(&head)
	if err != nil {
		return b, fmt.Errorf("encoding the record of a result: %w", err)
	}
	b = append(b, line[:len(line)-len("null}")]...) // parts are its last field
	b = append(b, '[')
	for i, p := range r.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"size":`...), p.Size, 10)
		if p.MIME != "" {
			b = jsondoc.AppendString(append(b, `,"mime":`...), p.MIME)
		}
		if p.Sum != "" {
			b = jsondoc.AppendString(append(b, `,"sum":`...), p.Sum)
		}
		if len(p.Data) > 0 {
			b = base64.StdEncoding.AppendEncode(append(b, `,"data":"`...), p.Data)
			b = append(b, '"')
		}
		b = append(b, '}')
	}
	return append(b, "]}\n"...), nil
}

// readJournal calls fn with each record in the journal f. A line that is no
// record was torn by a crash, and is passed over.
func readJournal(f *os.File, match []byte, fn func(*record)) error {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxJournal))
	if err != nil {
		return fmt.Errorf("reading the journal %s: %w", f.Name(), err)
	}
	for line := range bytes.Lines(data) {
		if match != nil && !bytes.Contains(line, match) {
			continue
		}
		r := new(record)
		if json.Unmarshal(line, r) == nil && IsID(r.ID) && len(r.Parts) > 0 {
			fn(r)
		}
	}
	return nil
}

// eachJournal calls fn with every journal that is not empty, opened for
// reading, until fn reports that it has seen enough.
func eachJournal(d *statedir.Dir, fn func(*os.File) (enough bool, err error)) error {
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := d.OpenFile(name, os.O_RDONLY)
		if err != nil {
			return err
		}
		enough := false
		if info, serr := f.Stat(); serr != nil || info.Size() > 0 {
			enough, err = fn(f)
		}
		_ = f.Close()
		if enough || err != nil {
			return err
		}
	}
	return nil
}
