package permission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// Request is what a person is asked.
type Request struct {
	// ID names the question. No two questions have the same.
	ID string
	// Session and CallID say whose call it is.
	Session, CallID string
	// Tool is the canonical name of the tool, Args its arguments.
	Tool string
	Args []byte
	// Digest is what the answer is bound to: all that the question is about.
	// An [Answer] must carry it.
	Digest string
	// Summary is one line; Reason says why the question is asked, and Rule
	// what asked it.
	Summary, Reason, Rule string
	Act                   Act
	Origin                tool.Origin
	// Policy is the version of the rules that asked, see [Live.Current].
	Policy string
	// Asked is when the question was put, and Expires when it ends without an
	// answer; zero is never.
	Asked, Expires time.Time
	// Offers are what an answer for always may write, the narrowest first.
	// None means that there is no such answer.
	Offers []Offer
	// Editable says that the answer may bring other arguments.
	Editable bool
}

// An Offer is a set of rules that together allow the very act that is asked
// about: what an answer for always adds to the allow rules.
type Offer struct {
	Rules []string `json:"rules"`
}

// Bind returns the digest of all that a question is about: its ID, whose call
// it is, the tool and its arguments, what the call would do, the rule that
// asks and the version of the rules. It depends on nothing else.
func (r *Request) Bind() string {
	a := r.Act
	spec := ""
	if a.Spec != nil {
		spec = a.Spec.Name
	}
	// Every part is quoted, so that none passes into another.
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q %q %q %q", r.ID, r.Session, r.CallID, r.Tool, r.Args, r.Rule, r.Reason, r.Policy)
	fmt.Fprintf(h, " %q %d %q %q %q %q %q %q %q %t", spec, a.Effects, a.Reads, a.Writes, a.Trees, a.Hosts, a.Command, a.Unclear, a.Unresolved, a.Unfenced)
	for _, file := range a.Touches {
		fmt.Fprintf(h, " %q", file.Path)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Scope says how far a yes reaches.
type Scope uint8

// The scopes. The zero value is the narrowest.
const (
	// Once is this one call.
	Once Scope = iota
	// ForSession is the same act for the rest of the session, or for as long
	// as the answer says.
	ForSession
	// ForAlways adds rules to the settings of the workspace.
	ForAlways
)

// String returns "once", "session" or "always".
func (s Scope) String() string {
	switch s {
	case ForSession:
		return "session"
	case ForAlways:
		return "always"
	}
	return "once"
}

// Answer is a person's word. The zero value is a refusal.
type Answer struct {
	// Digest repeats the request's, so that an answer to another question
	// never counts.
	Digest string
	// Allow says yes.
	Allow bool
	// Scope says how far a yes reaches. For [ForAlways], Offer is the index of
	// the offer that was taken; one that was not made is no answer.
	Scope Scope
	Offer int
	// For is how long a yes for the session holds; 0 is to its end.
	For time.Duration
	// Args, unless nil, are arguments that the person wants in place of those
	// that were asked about. They are a call of their own: decoded, assessed
	// and judged anew, and asked about again where the rules say so. Allow and
	// Scope then mean nothing.
	Args []byte
	// Reason is what the person wants the model to know about a no.
	Reason string
	// By names the face that the answer came through, for the record.
	By string
}

// Approver asks a person. It blocks until there is an answer or ctx is done,
// which may also mean that somebody else has answered ([ErrAnswered]) or that
// the question no longer stands. An error counts as no answer: [ErrNobody]
// where there is nobody to ask, a [*tool.Error] of one of the codes of approval
// where the model is to read its words, and any other where the question could
// not be put. It may be called from several goroutines.
type Approver func(ctx context.Context, r Request) (Answer, error)

var (
	// ErrNobody is what an [Approver] returns that finds nobody whom it could
	// ask about a call.
	ErrNobody = errors.New("nobody can be asked")
	// ErrCarried is in the chain of the error of an [Approver] that answers
	// the call itself with the question: the answer comes with another call,
	// so that nobody else is asked meanwhile.
	ErrCarried = errors.New("the question goes back with the result")
	// ErrAnswered is the cause of the end of a context where a question was
	// answered elsewhere.
	ErrAnswered = errors.New("the question was answered elsewhere")
	// ErrExpired is the cause where nobody answered in time.
	ErrExpired = errors.New("nobody answered in time")
	// ErrRulesChanged is the cause where the rules that asked changed.
	ErrRulesChanged = errors.New("the rules changed while the question stood")
)

// Digest returns what identifies one act: the tool and its exact arguments.
func Digest(name string, args []byte) string {
	h := sha256.New()
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil))
}
