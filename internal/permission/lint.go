package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/handrail-tools/handrail/tool"
)

// A FindingKind says what is the matter with a rule.
type FindingKind string

// The kinds of findings.
const (
	// Dead: the rule never decides about anything.
	Dead FindingKind = "dead"
	// Shadowed: a stricter rule always decides before it.
	Shadowed FindingKind = "shadowed"
	// Redundant: another rule of the same list says the same or more.
	Redundant FindingKind = "redundant"
	// Wide: it allows more than its words say.
	Wide FindingKind = "wide"
	// Slips: another spelling of what it refuses is not refused.
	Slips FindingKind = "slips"
	// Conflict: two parts of the settings say opposite things.
	Conflict FindingKind = "conflict"
	// Advice: it does what it says, and something else would do it better.
	Advice FindingKind = "advice"
)

// A Finding is something about one rule that its author will not have meant.
type Finding struct {
	// List is allow, ask or deny; Rule the rule as it was written.
	List, Rule string
	Kind       FindingKind
	// Text is what is the matter and what would be right.
	Text string
}

// maxLooked is how many rules of one list are looked at: every pair of them is
// compared, and each is tried in thirty spellings. A finding says where a list
// is longer.
const maxLooked = 1000

// Lint looks for rules that do not do what they seem to. hidden says of a tool
// why it is not in the session, or "". The error is that of [New].
func Lint(c Config, names Names, hidden func(tool string) string) ([]Finding, error) {
	if _, err := New(c, names); err != nil {
		return nil, err
	}
	l := &linter{config: c, names: names, hidden: hidden}
	for i, list := range [][]string{c.Deny, c.Ask, c.Allow} {
		for _, text := range list {
			r, err := parseRule(text, names)
			if err != nil {
				return nil, err
			}
			l.lists[i] = append(l.lists[i], r)
		}
	}
	for i := range l.lists {
		rest := len(l.lists[i]) - maxLooked
		if rest > 0 {
			l.find(i, &l.lists[i][maxLooked], Advice, "it and %d more behind it were not looked at; the list is too long", rest-1)
			l.lists[i] = l.lists[i][:maxLooked]
		}
		for j := range l.lists[i] {
			l.rule(i, j)
		}
	}
	return l.found, nil
}

// The lists of a linter, the one that decides first in front.
var listNames = [...]string{"deny", "ask", "allow"}

const (
	denyList = iota
	askList
	allowList
)

type linter struct {
	config Config
	names  Names
	hidden func(string) string
	lists  [3][]rule
	found  []Finding
}

func (l *linter) find(list int, r *rule, kind FindingKind, format string, args ...any) {
	l.found = append(l.found, Finding{listNames[list], r.text, kind, fmt.Sprintf(format, args...)})
}

// rule looks at one rule. What is dead or shadowed is not looked at further.
func (l *linter) rule(list, at int) {
	r := &l.lists[list][at]
	if l.dead(list, r) || l.shadowed(list, r) || l.redundant(list, at) {
		return
	}
	switch {
	case list == allowList:
		l.wide(r)
	case r.command != nil:
		l.slips(list, r)
	}
}

// dead reports on a rule that can decide about nothing.
func (l *linter) dead(list int, r *rule) bool {
	switch why := l.absent(r); {
	case why != "" && r.prefix != "" && list != allowList:
		l.find(list, r, Advice, "it decides about nothing yet: %s", why)
		return true
	case why != "":
		l.find(list, r, Dead, "it never decides: %s", why)
		return true
	case list == allowList && (l.config.Approval == Always || l.config.Approval == Untrusted && r.any && !l.reads(r)):
		l.find(list, r, Dead, "it never decides: with approval %q a person is asked before allow rules count", l.config.Approval)
		return true
	case r.prefix != "" || r.any || r.command != nil:
		return false
	}
	spec, _ := l.names.Resolve(r.tool)
	effects := spec.Effects.Declared()
	switch {
	case r.domain != "" && effects&(tool.Network|tool.Exec) == 0:
		l.find(list, r, Dead, "%s reaches no host, so the rule is about nothing; name a tool that does", r.tool)
	case r.path != "" && effects&(tool.Read|tool.Write) == 0:
		l.find(list, r, Dead, "%s touches no file, so the rule is about nothing; name a tool that does", r.tool)
	default:
		return false
	}
	return true
}

func (l *linter) reads(r *rule) bool {
	spec, ok := l.names.Resolve(r.tool)
	return ok && spec.Effects.Declared().Within(tool.Read)
}

// absent says why no tool that a rule is about is in the session, or "".
func (l *linter) absent(r *rule) string {
	if r.prefix == "" {
		if slices.Contains(commandTools, r.tool) {
			for _, name := range commandTools { // a rule for one is a rule for all
				if _, ok := l.names.Resolve(name); ok && l.hidden(name) == "" {
					return ""
				}
			}
		}
		return l.hidden(r.tool)
	}
	why := fmt.Sprintf("there is no tool whose name begins with %q", r.prefix)
	for _, name := range l.names.Names() {
		spec, ok := l.names.Resolve(name)
		if !ok || !r.covers(spec) {
			continue
		}
		if why = l.hidden(name); why == "" {
			return ""
		}
	}
	return why
}

// shadowed reports on a rule that a stricter one always forestalls.
func (l *linter) shadowed(list int, r *rule) bool {
	for stricter := range list {
		for i := range l.lists[stricter] {
			by := &l.lists[stricter][i]
			if !by.contains(r, true) {
				continue
			}
			what := "the calls that it is about are refused"
			if stricter == askList {
				what = "a person is asked about the calls that it is about"
			}
			l.find(list, r, Shadowed, "it never decides: %s by the %s rule %q first", what, listNames[stricter], tool.Clip(by.text))
			return true
		}
	}
	return false
}

// redundant reports on a rule that another one of its list makes needless: a
// wider one, or the same one earlier in the list.
func (l *linter) redundant(list, at int) bool {
	r, all := &l.lists[list][at], l.lists[list]
	for i := range all {
		by := &all[i]
		if i == at || !by.contains(r, list != allowList) || i > at && r.contains(by, list != allowList) {
			continue
		}
		if by.text == r.text {
			l.find(list, r, Redundant, "it stands in the list twice")
		} else {
			l.find(list, r, Redundant, "the rule %q covers it", tool.Clip(by.text))
		}
		return true
	}
	return false
}

// contains reports whether every call that q is about is one that r is about.
// It never says so where that is not so. refuses says that the rules are in
// lists that refuse or ask, where some tools stand for others.
func (r *rule) contains(q *rule, refuses bool) bool {
	if !r.standsFor(q, refuses) {
		return false
	}
	switch {
	case r.any:
		return true
	case r.command != nil:
		return q.command != nil && r.command.Contains(q.command, refuses)
	case r.domain != "":
		return q.domain == r.domain || strings.HasSuffix(q.domain, "."+r.domain)
	}
	return r.path != "" && q.path != "" && r.pathContains(q.path)
}

// standsFor reports whether r is about every tool that q is about.
func (r *rule) standsFor(q *rule, refuses bool) bool {
	switch {
	case r.prefix != "":
		return strings.HasPrefix(q.tool+q.prefix, r.prefix)
	case q.prefix != "":
		return false
	case slices.Contains(commandTools, r.tool) && slices.Contains(commandTools, q.tool):
		return true
	case refuses && r.path != "" && q.path != "":
		if slices.Contains(fileWriters, r.tool) && slices.Contains(fileWriters, q.tool) {
			return true
		}
	}
	return r.tool == q.tool
}

// pathContains reports whether the pattern matches whatever another one does,
// by trying what wildcards could stand for. Classes and braces say nothing.
func (r *rule) pathContains(other string) bool {
	if r.path == other {
		return true
	}
	mine, _, _ := strings.Cut(r.path, "/")
	theirs, _, _ := strings.Cut(other, "/")
	const wild = `*?[{\`
	if strings.ContainsAny(other, `[{\`) || mine != theirs && !strings.ContainsAny(mine, wild) && !strings.ContainsAny(theirs, wild) {
		return false
	}
	for _, folders := range []string{"", "\x01", "\x01/\x02/\x03/\x04/\x05"} {
		for _, some := range []string{"\x06", "\x06\x07\x06\x07\x06\x07\x06"} {
			name := strings.ReplaceAll(other, "**", "\x00")
			name = strings.NewReplacer("*", some, "?", "\x07").Replace(name)
			if folders == "" {
				name = strings.ReplaceAll(strings.ReplaceAll(name, "\x00/", ""), "/\x00", "")
			}
			name = strings.ReplaceAll(name, "\x00", folders)
			if name == "" {
				name = some
			}
			if !doublestar.MatchUnvalidated(r.path, name) && !doublestar.MatchUnvalidated(r.path+"/**", name) {
				return false
			}
		}
	}
	return true
}
