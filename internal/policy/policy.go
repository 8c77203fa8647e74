package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// Policy is a compiled [Config]. It never changes, so it may be used from
// several goroutines. The nil policy allows nothing: it stands for a policy
// that could not be had.
type Policy struct {
	deny  *Set
	allow *Set // nil: everything that is not denied
	// tags are those of which a tool needs one; nil: none is needed.
	tags        []string
	tagText     string // tags as a decision names them
	shellWrites ShellWrites
}

// Reason is a stable label that says why a policy denied a tool, for the
// metric handrail_tool_policy_denial_total{tool,reason}.
type Reason string

// The reasons of a denial.
const (
	// ReasonDeny: an entry of the deny list matches.
	ReasonDeny Reason = "policy_deny"
	// ReasonNotAllowed: there is an allow list and nothing in it matches.
	ReasonNotAllowed Reason = "not_allowed"
	// ReasonMissingTag: the tool carries none of the required tags.
	ReasonMissingTag Reason = "missing_tag"
	// ReasonTier: a tier decided; either the deny list closes the tool's
	// tier, or the allow list admits tiers and the tool's is above them.
	ReasonTier Reason = "tier_gate"
	// ReasonNoPolicy: there is no policy to judge by.
	ReasonNoPolicy Reason = "no_policy"
)

// Reasons lists every reason, in the order of the constants.
func Reasons() []Reason {
	return []Reason{ReasonDeny, ReasonNotAllowed, ReasonMissingTag, ReasonTier, ReasonNoPolicy}
}

// Decision says whether a tool may be used and what decided.
type Decision struct {
	Allowed bool
	// Reason is "" exactly when Allowed.
	Reason Reason
	// List is the list that decided: "deny", "allow", "require_tags", or ""
	// where none had to.
	List string
	// Entry is the entry of List that decided, as it was written. It is ""
	// where no entry matched.
	Entry string
}

// String says what decided, in words for a person or a model.
func (d Decision) String() string {
	switch {
	case d.Allowed && d.Entry == "":
		return "allowed"
	case d.Allowed:
		return fmt.Sprintf("allowed by the %s entry %q", d.List, d.Entry)
	case d.Reason == ReasonMissingTag:
		return fmt.Sprintf("denied: it carries none of the required tags (%s)", d.Entry)
	case d.Entry != "":
		return fmt.Sprintf("denied by the %s entry %q", d.List, d.Entry)
	case d.Reason == ReasonTier:
		return "denied: its tier is above those in the allow list"
	case d.Reason == ReasonNotAllowed:
		return "denied: no entry of the allow list matches it"
	default:
		return "denied: there is no policy to judge it by"
	}
}

// Compile checks a policy against the words of a vocabulary and the tools
// that exist, and reports all that is wrong with it at once. A nil
// vocabulary is the default one; a nil catalog has no tools.
func Compile(c Config, vocab *Vocabulary, catalog Catalog) (*Policy, error) {
	l := newLookup(vocab, catalog)
	p := &Policy{}
	var problems, bad []error
	p.deny, problems = l.compile("deny", c.Deny, false)
	if c.Allow != nil {
		p.allow, bad = l.compile("allow", c.Allow, true)
		problems = append(problems, bad...)
	}
	p.tags, bad = l.requireTags(c.RequireTags)
	problems = append(problems, bad...)
	p.tagText = strings.Join(p.tags, ", ")
	var err error
	if p.shellWrites, err = ParseShellWrites(string(c.ShellWrites)); err != nil {
		problems = append(problems, fmt.Errorf("shell_writes: %w", err))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("the tool policy is not valid:\n%w", err)
	}
	return p, nil
}

// requireTags checks the list of required tags. They are plain words.
func (l *lookup) requireTags(texts []string) (tags []string, problems []error) {
	if texts == nil {
		return nil, nil
	}
	if len(texts) == 0 {
		return nil, []error{errors.New("require_tags is an empty list, which no tool can satisfy; leave it out to require none")}
	}
	for i, text := range texts {
		e, err := entry{text: text, later: strings.HasSuffix(text, "?")}.parseKind("tag", strings.TrimSuffix(text, "?"))
		if err == nil {
			err = l.check(e)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("require_tags entry %d, %q, %w", i+1, tool.Clip(text), err))
			continue
		}
		tags = append(tags, e.value)
	}
	return tags, problems
}

// Decide judges a tool by what it declares. The answer is the same whenever
// it is asked, also for a tool that was registered after the policy was
// compiled.
func (p *Policy) Decide(spec *tool.Spec) Decision {
	if p == nil {
		return Decision{Reason: ReasonNoPolicy}
	}
	if i := p.deny.match(spec); i >= 0 {
		d := Decision{Reason: ReasonDeny, List: "deny", Entry: p.deny.entries[i]}
		if p.deny.isTier(i) {
			d.Reason = ReasonTier
		}
		return d
	}
	allowed := Decision{Allowed: true}
	if p.allow != nil {
		i := p.allow.match(spec)
		if i < 0 {
			return p.notAllowed(spec)
		}
		allowed = Decision{Allowed: true, List: "allow", Entry: p.allow.entries[i]}
	}
	if p.tags != nil && !slices.ContainsFunc(spec.Tags, func(t string) bool { return slices.Contains(p.tags, t) }) {
		return Decision{Reason: ReasonMissingTag, List: "require_tags", Entry: p.tagText}
	}
	return allowed
}

// notAllowed says why no entry of the allow list matched: where the list
// admits tiers and the tool has one, the tier is what decided.
func (p *Policy) notAllowed(spec *tool.Spec) Decision {
	d := Decision{Reason: ReasonNotAllowed, List: "allow"}
	if _, has := p.allow.tierOf(spec); has && len(p.allow.tiers) > 0 {
		d.Reason = ReasonTier
	}
	return d
}

// ShellWrites says what becomes of shell commands that write files. It is
// [ShellWritesDeny] for the nil policy.
func (p *Policy) ShellWrites() ShellWrites {
	if p == nil {
		return ShellWritesDeny
	}
	return p.shellWrites
}
