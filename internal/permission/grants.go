package permission

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Grant is a yes that reaches further than one call. It answers a question;
// what a rule refuses stays refused.
type Grant struct {
	// ID names the grant in its session. A rule that was allowed for always
	// is its own ID.
	ID    string
	Scope Scope
	// Tool and Summary are those of the call that was asked about.
	Tool, Summary string
	// Digest identifies the tool and its exact arguments, as [Digest] does.
	Digest string
	// Rule is the allow rule of a grant for always.
	Rule string
	// By names the face that the answer came through.
	By string
	// Given is when, Expires until when it holds; zero is to the end of the
	// session, or for always.
	Given, Expires time.Time
}

// Expired reports whether the grant no longer holds.
func (g Grant) Expired(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// Grants remembers what a person allowed for the rest of a session. The zero
// value is empty and ready; it is safe for concurrent use.
type Grants struct {
	mu  sync.Mutex
	set map[any]Grant
	n   int
}

// maxGrants bounds what one session can remember; a person does not answer
// more questions than this.
const maxGrants = 10_000

// Add remembers the act, under a comparable value that stands for it, and
// returns the grant with its ID. It reports false where there are too many.
func (g *Grants) Add(act any, grant Grant) (Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		g.set = map[any]Grant{}
	}
	if len(g.set) >= maxGrants {
		now := time.Now()
		for act, old := range g.set {
			if old.Expired(now) {
				delete(g.set, act)
			}
		}
	}
	if len(g.set) >= maxGrants {
		return grant, false
	}
	g.n++
	grant.ID = fmt.Sprintf("g_%d", g.n)
	g.set[act] = grant
	return grant, true
}

// Find returns the grant for the act, if there is one that still holds.
func (g *Grants) Find(act any) (Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	grant, ok := g.set[act]
	if ok && grant.Expired(time.Now()) {
		delete(g.set, act)
		return Grant{}, false
	}
	return grant, ok
}

// List returns the grants that hold, the oldest first.
func (g *Grants) List() []Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	var list []Grant
	for _, grant := range g.set {
		if !grant.Expired(now) {
			list = append(list, grant)
		}
	}
	slices.SortFunc(list, func(a, b Grant) int {
		return cmp.Or(a.Given.Compare(b.Given), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Revoke takes a grant back and reports whether it was there. A call that has
// already been allowed by it is not stopped.
func (g *Grants) Revoke(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for act, grant := range g.set {
		if grant.ID == id {
			delete(g.set, act)
			return true
		}
	}
	return false
}
