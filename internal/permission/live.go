package permission

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// errNoBook is why nothing can be allowed for always.
var errNoBook = errors.New("there is no place for rules")

// A Book keeps, beyond the session, the rules that a person has allowed for
// always. It is safe for concurrent use, also by several processes.
type Book interface {
	// Rules returns the allow rules in force, and a stamp that differs when
	// they do.
	Rules() (rules []Grant, stamp string, err error)
	// Stamp returns that stamp alone. It is asked before every judgement.
	Stamp() string
	// Keep adds rules.
	Keep(rules []Grant) error
	// Drop takes a rule back and reports whether it was there.
	Drop(rule string) (bool, error)
}

// Live is the judge of a session and of its children as the rules stand: what
// a person allows for always is added while the session runs, and what is
// taken back goes, in whichever process that happens. It is safe for
// concurrent use.
type Live struct {
	parent *Live // of a child, which has its parent's rules in its own mode
	mode   Mode

	names *memory
	base  Config
	book  Book   // nil: nothing is allowed for always
	plain *Judge // of base alone

	mu      sync.Mutex
	stamp   string
	kept    []Grant // those of the book that are rules here
	judge   *Judge
	of      *Judge // what a child's judge was narrowed from
	version string
	changed chan struct{} // closed when the rules change
}

// NewLive compiles a configuration, with the rules that the book holds beside
// it. A rule of the book that does not fit this session, such as one for a
// tool that it does not have, is left out: that only takes away. All other
// mistakes are reported at once. book may be nil.
func NewLive(c Config, names Names, book Book) (*Live, error) {
	l := &Live{names: &memory{of: names}, base: c, book: book, changed: make(chan struct{})}
	var err error
	if l.plain, err = New(c, l.names); err != nil {
		return nil, err
	}
	var kept []Grant
	if book != nil {
		if kept, l.stamp, err = book.Rules(); err != nil {
			return nil, err
		}
	}
	return l, l.compile(kept)
}

// compile makes the judge of the configuration and the kept rules. l.mu is
// held, or nobody else has l.
func (l *Live) compile(kept []Grant) error {
	now := time.Now()
	kept = slices.DeleteFunc(slices.Clone(kept), func(g Grant) bool {
		_, err := New(Config{Allow: []string{g.Rule}}, l.names)
		return err != nil || g.Expired(now)
	})
	c := l.with(ruleTexts(kept))
	judge, err := New(c, l.names)
	if err != nil {
		return err
	}
	text, _ := json.Marshal(c) // words and lists of words can be marshalled
	sum := sha256.Sum256(text)
	l.judge, l.version, l.kept = judge, hex.EncodeToString(sum[:8]), kept
	return nil
}

func (l *Live) with(rules []string) Config {
	c := l.base
	c.Allow = slices.Concat(c.Allow, rules)
	return c
}

func ruleTexts(kept []Grant) []string {
	var rules []string
	for _, g := range kept {
		rules = append(rules, g.Rule)
	}
	return rules
}

// Narrow returns the judge of a child, which lets no more happen by itself
// than l and the mode do. "" is l's own mode.
func (l *Live) Narrow(mode Mode) (*Live, error) {
	judge, _ := l.Current()
	if _, err := judge.Narrow(mode); err != nil {
		return nil, err
	}
	return &Live{parent: l, mode: mode, names: l.names}, nil
}

// Current returns the judge as the rules stand, and what tells it from the
// judge of other rules.
func (l *Live) Current() (*Judge, string) {
	if l.parent != nil {
		return l.narrowed()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.book != nil && l.stale(l.book.Stamp()) {
		l.reload()
	}
	return l.judge, l.version
}

// stale reports whether the kept rules are no longer what the book holds.
func (l *Live) stale(stamp string) bool {
	now := time.Now()
	return stamp != l.stamp || slices.ContainsFunc(l.kept, func(g Grant) bool { return g.Expired(now) })
}

// reload takes in what the book holds now. Where it cannot be read, nothing is
// allowed by it. l.mu is held.
func (l *Live) reload() {
	kept, stamp, err := l.book.Rules()
	if err != nil {
		kept, stamp = nil, ""
	}
	before := l.version
	if l.compile(kept) != nil {
		l.judge, l.kept, l.version = l.plain, nil, ""
	}
	l.stamp = stamp
	if l.version != before {
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// narrowed is the judge of a child.
func (l *Live) narrowed() (*Judge, string) {
	judge, version := l.parent.Current()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of != judge {
		own, err := judge.Narrow(l.mode)
		if err != nil {
			own = &Judge{} // the mode was good when the child was born
		}
		l.judge, l.of = own, judge
	}
	return l.judge, version + "/" + string(l.mode)
}

// Changed returns a channel that is closed when the rules are no longer those
// that [Live.Current] returns after this call. Rules that another process
// takes back are noticed when somebody asks Current.
func (l *Live) Changed() <-chan struct{} {
	if l.parent != nil {
		return l.parent.Changed()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Offers returns what an answer for always could add so that the act is
// allowed, the narrowest first. Each has been tried: the rules are good, and
// with them the act needs no question. What an ask rule or a hook asks about has
// no offer, because allow rules do not count before those.
func (l *Live) Offers(a Act) []Offer {
	if l.root().book == nil {
		return nil
	}
	var good []Offer
	for _, rules := range narrowRules(a) {
		if l.wouldAllow(a, rules) {
			good = append(good, Offer{Rules: rules})
		}
	}
	return good
}

// memory is names that, once resolved, stay so: the rules that a session was
// opened with hold also where a tool that they name was taken away.
type memory struct {
	of   Names
	mu   sync.Mutex
	seen map[string]*tool.Spec
}

// Resolve resolves a name or alias.
func (m *memory) Resolve(name string) (*tool.Spec, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if spec := m.seen[name]; spec != nil {
		return spec, true
	}
	spec, ok := m.of.Resolve(name)
	if ok {
		if m.seen == nil {
			m.seen = map[string]*tool.Spec{}
		}
		m.seen[name] = spec
	}
	return spec, ok
}

// Names returns the names that there are.
func (m *memory) Names() []string { return m.of.Names() }

// root is the judge that holds the rules.
func (l *Live) root() *Live {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// wouldAllow reports whether the act needs no question where the rules are
// added.
func (l *Live) wouldAllow(a Act, rules []string) bool {
	root := l.root()
	root.mu.Lock()
	c := root.with(slices.Concat(ruleTexts(root.kept), rules))
	root.mu.Unlock()
	judge, err := New(c, root.names)
	for at := l; err == nil && at.parent != nil; at = at.parent {
		judge, err = judge.Narrow(at.mode)
	}
	return err == nil && judge.Judge(a).Outcome == Allow
}

// Keep writes rules into the book and takes them in. Where they cannot be
// written, they do not hold either.
func (l *Live) Keep(rules []Grant) error {
	if l.parent != nil {
		return l.parent.Keep(rules)
	}
	if l.book == nil {
		return errNoBook
	}
	if err := l.book.Keep(rules); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reload()
	return nil
}

// Kept returns the rules that were allowed for always and hold here.
func (l *Live) Kept() []Grant {
	if l.parent != nil {
		return l.parent.Kept()
	}
	_, _ = l.Current()
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.kept)
}

// Drop takes back a rule that was allowed for always, and reports whether it
// was there.
func (l *Live) Drop(rule string) (bool, error) {
	if l.parent != nil {
		return l.parent.Drop(rule)
	}
	if l.book == nil {
		return false, nil
	}
	there, err := l.book.Drop(rule)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reload()
	return there, nil
}

// Current returns j, whose rules never change.
func (j *Judge) Current() (*Judge, string) { return j, "" }

// Changed returns a channel that is never closed.
func (j *Judge) Changed() <-chan struct{} { return nil }

// Offers returns nothing: there is no place for a rule.
func (j *Judge) Offers(Act) []Offer { return nil }

// Keep refuses: there is no place for a rule.
func (j *Judge) Keep([]Grant) error { return errNoBook }
