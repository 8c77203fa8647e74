package permission

import (
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/tool"
)

// A Traced is one part of an act and what the rules said about it.
type Traced struct {
	// Part is a simple command and where it stands, or "the call" for what
	// rules about tools, files and hosts are asked.
	Part string
	// Knows is what is known of the part, or "".
	Knows string
	// Tried are the rules that were asked, in the order in which lists and
	// rules decide: those that say something, and the first of the others.
	Tried []Trial
	// More is how many further rules said nothing.
	More int
}

// A Trial is what one rule said about one part.
type Trial struct {
	// List is deny, ask or allow, Rule the rule as it was written.
	List, Rule string
	// Says is "matches", "may match", "covers" or "no".
	Says string
	// Why is a phrase, or "".
	Why string
}

const (
	// maxSilent is how many rules that say nothing are named for each part,
	// and maxParts how many parts are traced: what a person reads.
	maxSilent = 12
	maxParts  = 200
)

// Trace says which rules [Judge.Judge] asks about an act and what each of them
// says, for an explanation. It decides nothing.
func (j *Judge) Trace(a Act) []Traced {
	program := a.program()
	parts := []Traced{j.traceCall(&a)}
	if program == nil {
		return parts
	}
	if parts[0].Tried == nil && parts[0].More == 0 {
		parts = nil
	}
	for _, problem := range program.Problems {
		parts = append(parts, Traced{Part: "the whole command", Knows: problem + "; every deny and ask rule about commands may match it"})
	}
	for i := range program.Commands[:min(len(program.Commands), maxParts)] {
		parts = append(parts, j.traceCommand(&program.Commands[i]))
	}
	return parts
}

// add keeps a trial that says something, and some of the others.
func (t *Traced) add(one Trial) {
	if one.Says == "no" && len(t.Tried) >= maxSilent {
		t.More++
		return
	}
	t.Tried = append(t.Tried, one)
}

// traceCall asks the rules that are not about commands.
func (j *Judge) traceCall(a *Act) Traced {
	t := Traced{Part: "the call"}
	for _, one := range []struct {
		name string
		list *list
		deny bool
	}{{"deny", &j.deny, true}, {"ask", &j.ask, false}} {
		for i := range one.list.plain {
			r := &one.list.plain[i]
			trial := Trial{List: one.name, Rule: r.text, Says: "no"}
			single := []rule{*r}
			if _, ok := matchAny(single, *a, one.deny); ok {
				trial.Says = "matches"
			} else if h, ok := hitByNames(single, a); ok {
				trial.Says, trial.Why = "may match", h.part
				if h.sure {
					trial.Says = "matches"
				}
			}
			if trial.Says != "no" || r.about(a) || r.closes(*a) || r.guards(*a) {
				t.add(trial)
			}
		}
	}
	for i := range j.allow.plain {
		if r := &j.allow.plain[i]; r.about(a) {
			t.add(Trial{"allow", r.text, r.grants(a), ""})
		}
	}
	return t
}

// grants says whether an allow rule that is not about commands covers a part
// of the act.
func (r *rule) grants(a *Act) string {
	covers := r.any
	if !covers && !a.runs() {
		covers = r.path != "" && slices.ContainsFunc(slices.Concat(a.Reads, a.Writes, a.Trees), r.matchesPath)
		covers = covers || r.domain != "" && slices.ContainsFunc(a.Hosts, func(h string) bool {
			match, _ := r.matchesHost(h)
			return match
		})
	}
	if covers {
		return "covers"
	}
	return "no"
}

// traceCommand asks the rules about commands for one simple command.
func (j *Judge) traceCommand(c *shellparse.Command) Traced {
	t := Traced{Part: describePart(c), Knows: c.Class.String() + ": " + tool.Clip(c.Why)}
	if c.Opaque != "" && c.Opaque != c.Why {
		t.Knows += "; " + c.Opaque
	}
	alone := &shellparse.Program{Commands: []shellparse.Command{*c}}
	for _, one := range []struct {
		name  string
		rules []rule
	}{{"deny", j.deny.commands.rules}, {"ask", j.ask.commands.rules}} {
		for i := range one.rules {
			r := &one.rules[i]
			trial := Trial{List: one.name, Rule: r.text, Says: "no"}
			if m, ok := shellparse.NewSet(r.command).Hit(alone); ok {
				trial.Says, trial.Why = "may match", m.Why
				if m.Sure {
					trial.Says = "matches"
				}
			}
			t.add(trial)
		}
	}
	covered := false
	for i := range j.allow.commands.rules {
		r := &j.allow.commands.rules[i]
		trial := Trial{List: "allow", Rule: r.text, Says: "no"}
		if shellparse.NewSet(r.command).Cover(alone, false).Rules[0] == 0 {
			trial.Says, covered = "covers", true
		}
		t.add(trial)
	}
	if !covered && len(j.allow.commands.rules) > 0 {
		t.Knows += uncovered(alone)
	}
	if names := touched(c); names != "" {
		t.Knows += "; " + names
	}
	return t
}

// uncovered says why a command needs no allow rule of its own, or can have
// none.
func uncovered(alone *shellparse.Program) string {
	switch shellparse.NewSet().Cover(alone, true).Rules[0] {
	case shellparse.CoverReadOnly:
		return "; it needs no allow rule"
	case shellparse.CoverNeutral:
		return "; it needs no allow rule, what it runs does"
	}
	return ""
}

// touched names the files and hosts of a command that rules are asked about.
func touched(c *shellparse.Command) string {
	var all []string
	for _, side := range []struct {
		verb  string
		paths []shellparse.Path
	}{{"reads ", c.Effects.Reads}, {"writes ", c.Effects.Writes}} {
		for _, p := range side.paths {
			all = append(all, side.verb+p.Name)
		}
	}
	for _, h := range c.Effects.Hosts {
		all = append(all, "reaches "+h)
	}
	return tool.Clip(strings.Join(all, ", "))
}
