package args

import (
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// maxTrials is how often one decoding may try out a branch of a union that
// nothing else decides.
const maxTrials = 32

// repairer walks a value and its schema and mends what the schema refuses as
// it stands. What it leaves is judged again afterwards, so a repair can never
// let anything through.
type repairer struct {
	aliases   map[string]string
	budget    *schema.Budget
	trials    *int
	notes     notes
	conflicts []bullet
	wrapping  bool // inside a list that was put around a value
}

func newRepairer(aliases map[string]string) *repairer {
	trials := maxTrials
	return &repairer{aliases: aliases, budget: schema.NewBudget(), trials: &trials}
}

// fork returns a repairer for an attempt, on the same budget.
func (r *repairer) fork() *repairer {
	return &repairer{aliases: r.aliases, budget: r.budget, trials: r.trials, wrapping: r.wrapping}
}

// notes are the records of the repairs, up to a bound.
type notes struct {
	lines []string
	more  int
}

const maxNotes = 50

func (n *notes) empty() bool { return len(n.lines) == 0 }

func (n *notes) add(at *place, format string, args ...any) {
	if len(n.lines) == maxNotes {
		n.more++
		return
	}
	n.lines = append(n.lines, at.String()+": "+fmt.Sprintf(format, args...))
}

func (n *notes) take(other notes) {
	for _, line := range other.lines {
		if len(n.lines) == maxNotes {
			n.more++
			continue
		}
		n.lines = append(n.lines, line)
	}
	n.more += other.more
}

func (n *notes) list() []string {
	if n.more == 0 {
		return n.lines
	}
	return append(slices.Clip(n.lines), fmt.Sprintf("… and %d more repairs", n.more))
}

// value mends n, to which all schemas of the list apply.
func (r *repairer) value(n *jsondoc.Node, list []*schema.Schema, at *place) {
	if !r.budget.Spend(1) {
		return
	}
	kinds := kindsOf(list)
	r.convert(n, list, kinds, at)
	r.spellInteger(n, kinds, at)
	choose := func(branches []*schema.Schema, n *jsondoc.Node) *schema.Schema { return r.choose(branches, n, at) }
	view := expand(list, n, choose, r.budget)
	switch n.Kind {
	case jsondoc.Object:
		r.keys(n, view, at)
		r.nulls(n, view, at)
		for i := range n.Elems {
			key := n.Elems[i].Key
			if subs, _ := propertySchemas(view, key); subs != nil {
				r.value(&n.Elems[i].Node, subs, at.key(key))
			}
		}
	case jsondoc.Array:
		for i := range n.Elems {
			if subs := itemSchemas(view, i); subs != nil {
				r.value(&n.Elems[i].Node, subs, at.item(i))
			}
		}
	case jsondoc.String:
		r.literal(n, view, at)
	}
}

// keys gives every property that is only spelt differently its own name.
func (r *repairer) keys(n *jsondoc.Node, view []*schema.Schema, at *place) {
	names := propertyNames(view)
	if len(names) == 0 || mapOfValues(view) {
		return
	}
	var folded map[string]string
	for i := range n.Elems {
		key := n.Elems[i].Key
		if _, named := propertySchemas(view, key); named || len(key) > tool.MaxEcho {
			continue
		}
		if folded == nil {
			folded = foldNames(names)
		}
		spelt := suggest.Fold(key)
		if spelt == "" {
			continue
		}
		canonical := folded[spelt]
		if alias := r.aliases[spelt]; at == nil && slices.Contains(names, alias) {
			canonical = alias
		}
		switch {
		case canonical == "":
		case n.Find(canonical) != nil:
			r.conflicts = append(r.conflicts, bullet{
				rank: rankUnknown, path: at.key(key).String(), key: key,
				text: fmt.Sprintf("means the same as %s, which was also given (send only %[1]s)", name(canonical)),
			})
		default:
			n.Elems[i].Key = canonical
			r.notes.add(at.key(key), "read as %s", name(canonical))
		}
	}
}

// mapOfValues reports whether a view takes any property but says what its
// value is. Such an object is a map, in which spellings are data.
func mapOfValues(view []*schema.Schema) bool {
	return slices.ContainsFunc(view, func(s *schema.Schema) bool {
		rest := s.AdditionalProperties
		return rest != nil && !rest.Never && rest.Kinds() != jsondoc.Any
	})
}

// foldNames maps a folded spelling to the one name that has it.
func foldNames(names []string) map[string]string {
	folded := make(map[string]string, len(names))
	for _, n := range names {
		key := suggest.Fold(n)
		if _, taken := folded[key]; taken {
			n = "" // two names that differ in spelling only are told apart
		}
		folded[key] = n
	}
	return folded
}

// nulls leaves out optional properties whose null the schema does not take:
// clients in strict mode send one for each that is unset.
func (r *repairer) nulls(n *jsondoc.Node, view []*schema.Schema, at *place) {
	kept := n.Elems[:0]
	for _, e := range n.Elems {
		if e.Kind == jsondoc.Null && !requires(view, e.Key) {
			subs, named := propertySchemas(view, e.Key)
			if kinds := kindsOf(subs); named && kinds != 0 && !kinds.Has(jsondoc.Null) {
				r.notes.add(at.key(e.Key), "null was left out")
				continue
			}
		}
		kept = append(kept, e)
	}
	n.Elems = kept
}

// literal puts the one listed value in place of a text that differs from it
// in letter case only.
func (r *repairer) literal(n *jsondoc.Node, view []*schema.Schema, at *place) {
	for _, s := range view {
		values, listed := s.Literals()
		if !listed {
			continue
		}
		text, found := n.Text(), -1
		for i := range values {
			if values[i].Kind != jsondoc.String || !strings.EqualFold(values[i].Text(), text) {
				continue
			}
			if values[i].Text() == text {
				return
			}
			if found >= 0 && values[i].Text() != values[found].Text() {
				return // more than one could be meant
			}
			found = i
		}
		if found >= 0 {
			r.notes.add(at, "%s was read as %s", show(n), show(&values[found]))
			*n = values[found]
			return
		}
	}
}

// choose picks the branch of a union: one that takes the value as it is, the
// only one that it can be meant for, or the only one that takes it mended.
func (r *repairer) choose(branches []*schema.Schema, n *jsondoc.Node, at *place) *schema.Schema {
	for _, b := range branches {
		if b.Accepts(n, r.budget) {
			return b
		}
	}
	fit := meant(branches, n, r.budget)
	if len(fit) == 1 {
		return fit[0]
	}
	var chosen *schema.Schema
	var result string
	for _, b := range fit {
		if *r.trials--; *r.trials < 0 {
			return nil
		}
		attempt := n.Clone()
		r.fork().value(&attempt, []*schema.Schema{b}, at)
		if !b.Accepts(&attempt, r.budget) {
			continue
		}
		form := attempt.Canonical()
		if chosen != nil && form != result {
			return nil
		}
		if chosen == nil {
			chosen, result = b, form
		}
	}
	return chosen
}
