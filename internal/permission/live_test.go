package permission

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// shelf is a book in memory.
type shelf struct {
	mu    sync.Mutex
	rules []Grant
	n     int
	fails error
}

func (b *shelf) Rules() ([]Grant, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rules), strconv.Itoa(b.n), b.fails
}

func (b *shelf) Stamp() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strconv.Itoa(b.n)
}

func (b *shelf) Keep(rules []Grant) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails != nil {
		return b.fails
	}
	b.rules, b.n = append(b.rules, rules...), b.n+1
	return nil
}

func (b *shelf) Drop(rule string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.rules)
	b.rules = slices.DeleteFunc(b.rules, func(g Grant) bool { return g.Rule == rule })
	b.n++
	return len(b.rules) < before, b.fails
}

// outcome is what the rules say of an act as they stand.
func outcome(l *Live, a Act) Outcome {
	j, _ := l.Current()
	return j.Judge(a).Outcome
}

func live(t *testing.T, c Config, b Book) *Live {
	t.Helper()
	l, err := NewLive(c, catalog, b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLiveRulesComeAndGo(t *testing.T) {
	book := &shelf{}
	l := live(t, Config{Deny: []string{"write_file(closed/**)"}}, book)
	child, err := l.Narrow("")
	if err != nil {
		t.Fatal(err)
	}
	_, first := l.Current()
	changed := child.Changed()
	if outcome(l, act(write, "a")) != Ask || outcome(child, act(write, "a")) != Ask {
		t.Fatal("a write needs no question to begin with")
	}
	offers := l.Offers(act(write, "a"))
	if len(offers) != 1 || offers[0].Rules[0] != "write_file(/a)" {
		t.Fatalf("offered %q", offers)
	}
	if err := child.Keep([]Grant{{Rule: offers[0].Rules[0]}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody is told that the rules changed")
	}
	_, second := l.Current()
	if first == second {
		t.Error("the version is the same")
	}
	// Both ways: what a child is allowed, its parent is, and the other way round.
	if outcome(l, act(write, "a")) != Allow || outcome(child, act(write, "a")) != Allow || outcome(l, act(write, "b")) != Ask || outcome(l, act(write, "sub/a")) != Ask {
		t.Error("the rule does not hold, or holds for more")
	}
	// Another process takes it back.
	if there, err := book.Drop("write_file(/a)"); !there || err != nil {
		t.Fatal(there, err)
	}
	if outcome(child, act(write, "a")) != Ask {
		t.Error("a rule that was taken back still holds")
	}
	if _, third := l.Current(); third != first {
		t.Error("the same rules have another version")
	}
}

// TestOffersNeverBeatARefusal: what would not be allowed by a rule is not
// offered, and a rule that is kept never beats one that refuses or asks.
func TestOffersNeverBeatARefusal(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
	}{
		{"an ask rule", Config{Ask: []string{"write_file(a)"}}},
		{"a deny rule", Config{Deny: []string{"write_file(a)"}}},
		{"everything is asked about", Config{Approval: Always}},
		{"what is not trusted is asked about", Config{Approval: Untrusted}},
		{"nobody is asked", Config{Approval: Never, Deny: []string{"write_file"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			book := &shelf{rules: []Grant{{Rule: "write_file(/a)"}}}
			l := live(t, c.config, book)
			if got := outcome(l, act(write, "a")); got == Allow {
				t.Error("a kept rule beats it")
			}
			if offers := l.Offers(act(write, "a")); offers != nil {
				t.Errorf("offered %q", offers)
			}
		})
	}
	if l := live(t, Config{}, nil); l.Offers(act(write, "a")) != nil || l.Keep([]Grant{{Rule: "write_file"}}) == nil {
		t.Error("without a book something is kept")
	}
	if offers := live(t, Config{}, &shelf{}).Offers(Act{Spec: mystery}); offers != nil {
		t.Errorf("a rule about every call is offered: %q", offers)
	}
}

// TestCodex43_RuleThatCannotBeWritten: then it does not hold either.
func TestCodex43_RuleThatCannotBeWritten(t *testing.T) {
	book := &shelf{}
	l := live(t, Config{}, book)
	book.fails = errors.New("the disk is full")
	if err := l.Keep([]Grant{{Rule: "write_file(/a)"}}); err == nil || outcome(l, act(write, "a")) != Ask {
		t.Error("a rule holds that was not written:", err)
	}
}

// TestDamagedBook: rules that cannot be read allow nothing, and never cost a
// rule that refuses.
func TestDamagedBook(t *testing.T) {
	book := &shelf{rules: []Grant{{Rule: "write_file(/a)"}, {Rule: "gone_tool(x)"}, {Rule: "write_file(((("}}}
	l := live(t, Config{Deny: []string{"read_file(.env)"}}, book)
	if outcome(l, act(write, "a")) != Allow || len(l.Kept()) != 1 {
		t.Fatal("rules that do not fit here take others with them")
	}
	book.mu.Lock()
	book.fails, book.n = errors.New("not JSON"), 7
	book.mu.Unlock()
	if outcome(l, act(write, "a")) != Ask || outcome(l, act(read, ".env")) != Deny {
		t.Error("a damaged book allows something, or a refusal is lost")
	}
	if _, err := NewLive(Config{}, catalog, book); err == nil {
		t.Error("a session opens on a damaged book")
	}
}

// TestToolThatIsGoneKeepsItsRules: a rule that refuses holds as long as the
// session, also when the rules are read anew after its tool was taken away.
func TestToolThatIsGoneKeepsItsRules(t *testing.T) {
	there := slices.Clone(catalog)
	book := &shelf{}
	names := &there
	l, err := NewLive(Config{Deny: []string{"read_file(.env)"}}, pointed{names}, book)
	if err != nil {
		t.Fatal(err)
	}
	*names = there[1:] // read_file
	if err := l.Keep([]Grant{{Rule: "write_file(/a)"}}); err != nil {
		t.Fatal(err)
	}
	if outcome(l, act(read, ".env")) != Deny || outcome(l, act(write, "a")) != Allow {
		t.Error("the rules of the session are lost")
	}
}

func TestGrantsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Grants
		long, _ := g.Add("long", Grant{Given: time.Now()})
		if _, ok := g.Add("short", Grant{Given: time.Now(), Expires: time.Now().Add(time.Minute)}); !ok {
			t.Fatal("not taken")
		}
		book := &shelf{rules: []Grant{{Rule: "write_file(/a)", Expires: time.Now().Add(time.Minute)}}}
		l := live(t, Config{}, book)
		time.Sleep(59 * time.Second)
		if _, ok := g.Find("short"); !ok || outcome(l, act(write, "a")) != Allow {
			t.Error("it ends too soon")
		}
		time.Sleep(time.Second)
		if _, ok := g.Find("short"); ok || outcome(l, act(write, "a")) != Ask {
			t.Error("it holds for longer than it was given")
		}
		if len(g.List()) != 1 || !g.Revoke(long.ID) || g.Revoke(long.ID) || len(g.List()) != 0 {
			t.Error("a grant is not taken back, or twice")
		}
	})
}

func TestGrantsAreBounded(t *testing.T) {
	var g Grants
	for i := range maxGrants {
		g.Add(i, Grant{})
	}
	if _, ok := g.Add("more", Grant{}); ok {
		t.Error("there is no bound")
	}
	if _, ok := g.Find("more"); ok {
		t.Error("what was not taken is found")
	}
}

// TestBindTellsEverythingApart changes one part of a question at a time.
func TestBindTellsEverythingApart(t *testing.T) {
	base := func() Request {
		return Request{ID: "q", Session: "s", CallID: "c", Tool: "t", Args: []byte(`{"a":1}`), Rule: "r", Reason: "y", Policy: "v",
			Act: Act{Spec: write, Reads: []string{"a"}, Writes: []string{"b"}, Command: "ls"}}
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*Request){
		"nothing": func(*Request) {}, "id": func(r *Request) { r.ID = "p" }, "session": func(r *Request) { r.Session = "p" },
		"call": func(r *Request) { r.CallID = "p" }, "tool": func(r *Request) { r.Tool = "p" }, "arguments": func(r *Request) { r.Args = []byte(`{"a":2}`) },
		"bytes that are no text": func(r *Request) { r.Args = []byte("\xff") }, "others": func(r *Request) { r.Args = []byte("\xfe") },
		"rule": func(r *Request) { r.Rule = "p" }, "reason": func(r *Request) { r.Reason = "p" }, "rules": func(r *Request) { r.Policy = "p" },
		"spec": func(r *Request) { r.Act.Spec = read }, "a read more": func(r *Request) { r.Act.Reads = []string{"a", "b"}; r.Act.Writes = nil },
		"two in one": func(r *Request) { r.Act.Reads = []string{`a" "b`}; r.Act.Writes = nil }, "written": func(r *Request) { r.Act.Writes = []string{"c"} },
		"command": func(r *Request) { r.Act.Command = "ls " }, "tree": func(r *Request) { r.Act.Trees = []string{"a"} }, "host": func(r *Request) { r.Act.Hosts = []string{"a"} },
		"fence": func(r *Request) { r.Act.Unfenced = true }, "touched": func(r *Request) { r.Act.Touches = []Touch{{Path: "x"}} },
	} {
		r := base()
		change(&r)
		sum := r.Bind()
		if other, twice := seen[sum]; twice {
			t.Errorf("%q and %q are one question", name, other)
		}
		seen[sum] = name
	}
}

// pointed are names that can be exchanged.
type pointed struct{ *names }
