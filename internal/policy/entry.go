package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// robotPrefix is how octos spells a tier as a group.
const robotPrefix = "robot:"

// tierTag begins the tag by which a tool declares its tier.
const tierTag = "tier:"

// Catalog says which tools exist when a policy is compiled. A nil Catalog
// has none.
type Catalog interface {
	// Resolve returns the tool that a name or alias means.
	Resolve(nameOrAlias string) (*tool.Spec, bool)
	// All yields every tool once.
	All() iter.Seq[*tool.Spec]
}

type entryKind uint8

const (
	kindName entryKind = iota
	kindPrefix
	kindGroup
	kindTag
	kindEffect
	kindTier
	kindRobot // group:robot:NAME
)

var kindWords = []string{"group", "tag", "effect", "tier"}

// entry is one entry of a list, parsed but not looked up.
type entry struct {
	text  string // as it was written
	kind  entryKind
	value string // without kind, "*" and "?"
	later bool   // was marked with "?"
}

func parseEntry(text string) (entry, error) {
	e := entry{text: text}
	rest, later := strings.CutSuffix(text, "?")
	e.later = later
	word, value, hasKind := strings.Cut(rest, ":")
	if hasKind {
		return e.parseKind(word, value)
	}
	prefix, wild := strings.CutSuffix(rest, "*")
	switch {
	case rest == "":
		return e, fmt.Errorf("is empty; write a tool name, an alias, prefix*, %s", kindForms())
	case wild && (prefix == "" || isName(prefix)):
		e.kind, e.value = kindPrefix, prefix
	case strings.Contains(prefix, "*"):
		return e, fmt.Errorf(`has "*" in the middle; a wildcard may only stand at the end`)
	case wild || !isName(rest):
		return e, fmt.Errorf("is no tool name: 1 to %d of a-z A-Z 0-9 _ -", tool.MaxName)
	default:
		e.kind, e.value = kindName, rest
	}
	return e, nil
}

func (e entry) parseKind(word, value string) (entry, error) {
	switch word {
	case "group":
		e.kind = kindGroup
		if tier, ok := strings.CutPrefix(value, robotPrefix); ok {
			e.kind, value = kindRobot, tier
		}
	case "tag":
		e.kind = kindTag
	case "effect":
		e.kind = kindEffect
	case "tier":
		e.kind = kindTier
	default:
		msg := fmt.Sprintf("has the unknown kind %q; write %s", tool.Clip(word), kindForms())
		if near, ok := suggest.Nearest(word, kindWords); ok {
			msg += fmt.Sprintf("; did you mean %q?", near+":")
		}
		return e, fmt.Errorf("%s", msg)
	}
	if strings.Contains(value, "*") {
		return e, fmt.Errorf("has a wildcard after %q; only tool names take one", word+":")
	}
	if !isLabel(value) {
		return e, fmt.Errorf("has no valid name after %q: 1 to %d of a-z 0-9 _ . : -", word+":", tool.MaxName)
	}
	e.value = value
	return e, nil
}

func kindForms() string {
	return "group:NAME, tag:NAME, effect:NAME or tier:NAME"
}

// lookup checks entries against what is known when a policy is compiled.
type lookup struct {
	vocab   *Vocabulary
	catalog Catalog
	names   []string // every known name and alias, sorted
	tags    []string // every known tag, sorted
}

func newLookup(vocab *Vocabulary, catalog Catalog) *lookup {
	l := &lookup{vocab: vocab.orDefault(), catalog: catalog}
	names := slices.Clone(l.vocab.names)
	tags := slices.Clone(l.vocab.tags)
	for _, tier := range l.vocab.tiers {
		tags = append(tags, tierTag+tier)
	}
	if catalog != nil {
		for spec := range catalog.All() {
			names = append(append(names, spec.Name), spec.Aliases...)
			tags = append(tags, spec.Tags...)
		}
	}
	slices.Sort(names)
	slices.Sort(tags)
	l.names, l.tags = slices.Compact(names), slices.Compact(tags)
	return l
}

// resolve returns the tool that a name means when the policy is compiled.
func (l *lookup) resolve(name string) (*tool.Spec, bool) {
	if l.catalog == nil {
		return nil, false
	}
	return l.catalog.Resolve(name)
}

// check returns an error when an entry names nothing known. "?" excuses what
// may come later; effects never do.
func (l *lookup) check(e entry) error {
	switch e.kind {
	case kindName:
		if _, ok := l.resolve(e.value); ok {
			return nil
		}
		return l.known(e, "tool", l.names)
	case kindPrefix:
		if e.later || slices.ContainsFunc(l.names, func(n string) bool { return strings.HasPrefix(n, e.value) }) {
			return nil
		}
		return l.unknown(e, "tool name begins with", l.names)
	case kindGroup:
		return l.known(e, "group", l.vocab.Groups())
	case kindTag:
		return l.known(e, "tag", l.tags)
	case kindTier, kindRobot:
		return l.known(e, "tier", l.vocab.tiers)
	case kindEffect:
		effects := tool.AllEffects | tool.Pure
		if e.later {
			return fmt.Errorf(`marks an effect with "?"; effects are fixed, they are %s`, strings.Join(effects.Names(), ", "))
		}
		return l.known(e, "effect", effects.Names())
	}
	panic(fmt.Sprintf("entry of unknown kind %d", e.kind))
}

func (l *lookup) known(e entry, what string, all []string) error {
	if e.later || slices.Contains(all, e.value) {
		return nil
	}
	return l.unknown(e, what+" is called", all)
}

func (l *lookup) unknown(e entry, what string, all []string) error {
	msg := fmt.Sprintf("names nothing known: no %s %q", what, e.value)
	written := strings.TrimSuffix(e.text, "?")
	if near, ok := suggest.Nearest(e.value, all); ok {
		msg += fmt.Sprintf("; did you mean %q?", strings.Replace(written, e.value, near, 1))
	} else if len(all) <= listed {
		msg += fmt.Sprintf("; there are %s", strings.Join(all, ", "))
	}
	if e.kind != kindEffect {
		msg += fmt.Sprintf(" (Write %q for one that may come later.)", written+"?")
	}
	return fmt.Errorf("%s", msg)
}

// listed is up to how many names an error lists when none is near.
const listed = 20
