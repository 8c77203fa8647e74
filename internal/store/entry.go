package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// Entry is a result to keep.
type Entry struct {
	// Session is the id of the session that made the call. It is required:
	// a result of nobody could be read by anybody.
	Session string
	// Workspace is the root of the workspace, or "" where there was none.
	Workspace string
	// Tool is the canonical name of the tool, and Call the caller's id.
	Tool, Call string
	// Text is the whole text as the tool gave it: not cleaned, not redacted.
	Text string
	// Verbatim is [tool.Spec.Verbatim] of the tool.
	Verbatim bool
	// Media are the images and other content, whole.
	Media []tool.Media
	// Metadata is for the host; it is no more than [MaxMetadata] bytes of
	// JSON, or nil.
	Metadata json.RawMessage
	// Created is when the result was made. The zero time means now.
	Created time.Time
	// Durable makes Put return only after the entry would survive a kill of
	// the process. It is meant for a result that was cut, whose rest can be
	// had only here; any other is written in the background.
	Durable bool
}

// MaxMetadata bounds [Entry.Metadata], in bytes: it lies in the index, which
// is read as a whole for one result.
const MaxMetadata = 64 << 10

func (e *Entry) check() error {
	switch {
	case e.Session == "":
		return errors.New("keeping a result: it belongs to no session")
	case len(e.Metadata) > MaxMetadata:
		return fmt.Errorf("keeping a result: its metadata has %d bytes of at most %d", len(e.Metadata), MaxMetadata)
	case e.Metadata != nil && !json.Valid(e.Metadata):
		return errors.New("keeping a result: its metadata is no JSON")
	}
	return nil
}

// The ids of results. 12 of 32 characters are 60 random bits: an id cannot
// be guessed, and yet a model copies it without a mistake. The characters
// that look like another are left out.
const (
	idPrefix = "r_"
	idLength = 12
	idChars  = "abcdefghijkmnpqrstuvwxyz23456789"
)

func newID() string {
	var b [idLength]byte
	rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = idChars[b[i]%32]
	}
	return idPrefix + string(b[:])
}

// IsID reports whether s has the form of a result's id.
func IsID(s string) bool {
	rest, ok := strings.CutPrefix(s, idPrefix)
	return ok && len(rest) == idLength && strings.Trim(rest, idChars) == ""
}

// record is an entry as the ledger holds it. It is never changed once it is
// made, so that it may be read while it is being written.
type record struct {
	ID        string          `json:"id"`
	Created   int64           `json:"created"` // Unix nanoseconds
	Session   string          `json:"session"`
	Workspace string          `json:"workspace,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Call      string          `json:"call,omitempty"`
	Verbatim  bool            `json:"verbatim,omitempty"`
	Lines     int             `json:"lines,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	// Parts are the text, and after it the media.
	Parts []part `json:"parts"`
}

// part is one piece of content: within the record where it is small, else in
// a blob.
type part struct {
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size"`
	Data []byte `json:"data,omitempty"`
	Sum  string `json:"sum,omitempty"` // SHA-256 in hexadecimal

	// text is what is to become Data or a blob. It is "" once it has.
	text string
}

// inline is how large a part may be to lie within the record, in bytes. Below
// some 100 KB SQLite reads content faster than a file system does; this much
// keeps a journal's line short.
const inline = 16 << 10

func newRecord(e *Entry) *record {
	if e.Created.IsZero() {
		e.Created = time.Now()
	}
	r := &record{
		ID: newID(), Created: e.Created.UnixNano(), Session: e.Session, Workspace: e.Workspace, Tool: e.Tool, Call: e.Call,
		Verbatim: e.Verbatim, Lines: countLines(e.Text), Metadata: e.Metadata,
		Parts: make([]part, 1, 1+len(e.Media)),
	}
	r.Parts[0] = part{Size: int64(len(e.Text)), text: e.Text}
	for _, m := range e.Media {
		r.Parts = append(r.Parts, part{MIME: m.MIME, Size: int64(len(m.Data)), text: string(m.Data)})
	}
	return r
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// size is what the record counts against the ledger's limit.
func (r *record) size() int64 {
	n := int64(len(r.Metadata))
	for _, p := range r.Parts {
		n += p.Size
	}
	return n
}
