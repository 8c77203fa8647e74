package history

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// A record is what a begin frame holds: one step of a change. A call that
// writes several times makes several records of one change.
type record struct {
	ID      string      `json:"id"`          // of the change
	N       int         `json:"n,omitempty"` // which record of the change, from 0
	Time    int64       `json:"t"`           // nanoseconds since 1970
	Tree    string      `json:"tree,omitempty"`
	Session string      `json:"session,omitempty"`
	Call    string      `json:"call,omitempty"`
	Tool    string      `json:"tool,omitempty"`
	Origin  tool.Origin `json:"origin,omitzero"`
	Undoes  []undoneRef `json:"undoes,omitempty"`
	Entries []entry     `json:"entries"`

	seg     string // the segment that it lies in
	pos     int64  // where in it
	outcome outcome
	living  bool // a process that lives may still end it
}

// An undoneRef names what a record takes back: a change, or the part of it
// that is about these paths.
type undoneRef struct {
	ID    string   `json:"id"`
	Paths []string `json:"paths,omitempty"`
}

// An entry is one path of a record.
type entry struct {
	Rel    string `json:"rel"`
	From   string `json:"from,omitempty"`
	Before *kept  `json:"before,omitempty"`
	After  *kept  `json:"after,omitempty"`
}

// kept is a state of a file as a record holds it.
type kept struct {
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size"`
	Sum  string      `json:"sum,omitempty"`
	// Lost says that the content is not kept: it was too large.
	Lost bool `json:"lost,omitempty"`
}

func (k *kept) sum() (sum, error) {
	var s sum
	if len(k.Sum) != hex.EncodedLen(sumSize) {
		return s, errObject
	}
	_, err := hex.Decode(s[:], []byte(k.Sum))
	return s, err
}

// same reports whether two states are known to be the same content.
func (k *kept) same(other *kept) bool {
	if k == nil || other == nil {
		return k == other
	}
	return k.Mode.Type() == other.Mode.Type() && k.Size == other.Size && k.Sum == other.Sum && !k.Lost && !other.Lost
}

type outcome uint8

const (
	open outcome = iota // nothing says what became of it
	happened
	rolledBack
)

// An ending is what an end frame holds.
type ending struct {
	ID string `json:"id"`
	N  int    `json:"n,omitempty"`
	OK bool   `json:"ok"`
	// Err is why it was rolled back.
	Err string `json:"err,omitempty"`
}

// A heading is what the first frame of a segment holds.
type heading struct {
	Root string `json:"root"`
}

func (r *record) time() time.Time { return time.Unix(0, r.Time) }

// parseRecord reads the body of a begin frame. What is not understood is an
// error: half a change must not be taken for a whole one.
func parseRecord(body []byte) (*record, error) {
	r := new(record)
	if err := strict(body, r); err != nil {
		return nil, err
	}
	if !IsID(r.ID) || r.N < 0 {
		return nil, fmt.Errorf("%q is no id of a change", tool.Clip(r.ID))
	}
	for _, e := range r.Entries {
		if e.Rel == "" || e.Before == nil && e.After == nil && e.From == "" {
			return nil, fmt.Errorf("the change %s has an entry that says nothing", r.ID)
		}
	}
	return r, nil
}

func strict(body []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
