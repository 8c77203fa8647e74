package approval

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/plain"
	"github.com/handrail-tools/handrail/tool"
)

// A Question is what stands in the queue: all that a person needs to know who
// is asked. Its texts are partly a model's, so whoever shows them must keep
// them from steering what they are shown on.
type Question struct {
	// ID names the question and is made of its content: an answer by ID is to
	// this very text.
	ID string `json:"-"`
	// Nonce makes two questions differ that say the same.
	Nonce string `json:"nonce"`
	// Owner names the process that asks.
	Owner   string      `json:"owner"`
	Session string      `json:"session"`
	Call    string      `json:"call"`
	Origin  tool.Origin `json:"origin"`

	Tool    string `json:"tool"`
	Summary string `json:"summary"`
	// Arguments is the JSON text of the arguments.
	Arguments string   `json:"arguments"`
	Effects   string   `json:"effects"`
	Reads     []string `json:"reads,omitempty"`
	Trees     []string `json:"reads_all_in,omitempty"`
	Writes    []string `json:"writes,omitempty"`
	Hosts     []string `json:"reaches,omitempty"`
	Command   string   `json:"runs,omitempty"`

	// Rule is what asks, Reason why, Policy the version of the rules.
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Policy string `json:"policy"`
	// Digest is what the answer is bound to beside the ID.
	Digest string `json:"digest"`

	Asked time.Time `json:"asked"`
	// Expires is when the question ends without an answer; zero is never.
	Expires time.Time `json:"expires,omitzero"`
	// Offers are what an answer for always may add to the rules.
	Offers []permission.Offer `json:"offers,omitempty"`
	// Editable says that the answer may bring other arguments.
	Editable bool `json:"editable,omitempty"`
}

// Limits of what is read from the queue, in bytes. The JSON text of a text can
// be six times as long as it.
const (
	maxQuestion = 8 * tool.MaxArgs
	maxReply    = 7 * tool.MaxArgs
)

// newQuestion writes down a question, and returns it with its text.
func newQuestion(owner string, r permission.Request) (Question, []byte, error) {
	a := r.Act
	q := Question{
		Nonce: rand.Text(), Owner: owner, Session: r.Session, Call: r.CallID, Origin: r.Origin,
		Tool: r.Tool, Summary: r.Summary, Arguments: string(r.Args), Effects: a.Effects.String(),
		Reads: a.Reads, Trees: a.Trees, Writes: a.Writes, Hosts: a.Hosts, Command: a.Command,
		Rule: r.Rule, Reason: r.Reason, Policy: r.Policy, Digest: r.Digest,
		Asked: r.Asked, Expires: r.Expires, Offers: r.Offers, Editable: r.Editable,
	}
	text, err := json.MarshalIndent(q, "", "  ")
	if err != nil {
		return q, nil, err
	}
	if len(text) > maxQuestion {
		return q, nil, fmt.Errorf("the question is longer than %d bytes", maxQuestion)
	}
	q.ID = idOf(text)
	return q, text, nil
}

// idOf is the name of the question that is written down in a text: eighty bits
// of its hash, in letters that can be read out.
func idOf(text []byte) string {
	sum := sha256.Sum256(text)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// errChanged is what becomes of a question that is not what its name says.
var errChanged = errors.New("it was changed since it was asked")

// readQuestion reads a question that has the name.
func readQuestion(id string, text []byte) (Question, error) {
	if idOf(text) != id {
		return Question{}, errChanged
	}
	var q Question
	if err := strict(text, &q); err != nil {
		return Question{}, err
	}
	q.ID = id
	return q, nil
}

// Words of a reply.
const (
	WordOnce    = "once"
	WordSession = "session"
	WordAlways  = "always"
	WordEdit    = "edit"
	WordNo      = "no"
)

// A Reply is a person's answer as it is put into the queue.
type Reply struct {
	// ID and Digest repeat the question's.
	ID     string `json:"id"`
	Digest string `json:"digest"`
	// Word is once, session, always, edit or no.
	Word string `json:"answer"`
	// Offer is the index of the offer that "always" takes.
	Offer int `json:"offer,omitempty"`
	// Arguments is the JSON text that "edit" puts in the place of the
	// arguments.
	Arguments string `json:"arguments,omitempty"`
	// Seconds is how long "session" holds; 0 is to its end.
	Seconds int `json:"seconds,omitempty"`
	// Reason is told to the model with a "no".
	Reason string `json:"reason,omitempty"`
	// By names who answers, for the record.
	By string `json:"by,omitempty"`
}

// check reports what is wrong with a reply to a question.
func (p Reply) check(q Question) error {
	switch {
	case p.ID != q.ID || p.Digest != q.Digest:
		return errors.New("it is to another question")
	case p.Word == WordAlways && (p.Offer < 0 || p.Offer >= len(q.Offers)):
		return errors.New("it takes a rule for always that was not offered")
	case p.Word == WordEdit && !q.Editable:
		return errors.New("the arguments of this call cannot be changed")
	case p.Word == WordEdit && !json.Valid([]byte(p.Arguments)):
		return errors.New("the arguments that it brings are not JSON")
	case p.Seconds < 0:
		return errors.New("its time is negative")
	}
	switch p.Word {
	case WordOnce, WordSession, WordAlways, WordEdit, WordNo:
		return nil
	}
	return fmt.Errorf("%q is none of once, session, always, edit and no", tool.Clip(p.Word))
}

// answer is what a reply that was checked means.
func (p Reply) answer(r permission.Request) permission.Answer {
	a := permission.Answer{Digest: r.Digest, By: "queue", Reason: tool.ClipText(plain.Text(p.Reason), 1000)}
	if p.By != "" {
		a.By += ": " + plain.Line(tool.Clip(p.By))
	}
	switch p.Word {
	case WordOnce:
		a.Allow = true
	case WordSession:
		a.Allow, a.Scope, a.For = true, permission.ForSession, time.Duration(p.Seconds)*time.Second
	case WordAlways:
		a.Allow, a.Scope, a.Offer = true, permission.ForAlways, p.Offer
	case WordEdit:
		a.Args = []byte(p.Arguments)
	}
	return a
}

// strict reads one JSON value without unknown members and with nothing after
// it.
func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the JSON value")
	}
	return nil
}
