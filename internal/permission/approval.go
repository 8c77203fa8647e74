package permission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// Request is what a person is asked.
type Request struct {
	// Tool is the canonical name of the tool, Args its arguments.
	Tool string
	Args []byte
	// Digest identifies the exact act; an [Answer] must carry it.
	Digest string
	// Summary is one line; Reason says why the question is asked, and Rule
	// what asked it.
	Summary, Reason, Rule string
	Act                   Act
	Origin                tool.Origin
	// Asked is when the question was put.
	Asked time.Time
}

// Answer is a person's word. The zero value is a refusal.
type Answer struct {
	// Digest repeats the request's, so that an answer to another question
	// never counts.
	Digest string
	// Allow says yes.
	Allow bool
	// Session extends a yes to the same act for the rest of the session.
	Session bool
	// Reason is what the person wants the model to know about a no.
	Reason string
}

// Approver asks a person. It blocks until there is an answer or ctx is done.
// An error counts as no answer: [ErrNobody] where there is nobody to ask, a
// [*tool.Error] of one of the codes of approval where the model is to read its
// words, and any other where the question could not be put. It may be called
// from several goroutines.
type Approver func(ctx context.Context, r Request) (Answer, error)

// ErrNobody is what an [Approver] returns that finds nobody whom it could
// ask about a call.
var ErrNobody = errors.New("nobody can be asked")

// Digest returns what identifies one act: the tool and its exact arguments.
func Digest(name string, args []byte) string {
	h := sha256.New()
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil))
}

// Grants remembers what a person allowed for the rest of a session. The zero
// value is empty and ready; it is safe for concurrent use.
type Grants struct {
	mu  sync.Mutex
	set map[any]bool
}

// maxGrants bounds what one session can remember; a person does not answer
// more questions than this.
const maxGrants = 10_000

// Add remembers the act, under a comparable value that stands for it.
func (g *Grants) Add(act any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		g.set = map[any]bool{}
	}
	if len(g.set) < maxGrants {
		g.set[act] = true
	}
}

// Has reports whether the act was allowed.
func (g *Grants) Has(act any) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.set[act]
}
