package permission

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/tool"
)

// commandTools are the tools of Handrail's own that run commands. A rule for
// one of them is a rule for all: who may not run git with shell may not type
// it into a terminal either.
var commandTools = []string{"shell", "exec_command", "write_stdin", "run_code", "check"}

// commands are the rules of one list that are about commands.
type commands struct {
	rules []rule // as the patterns of set are numbered
	set   *shellparse.Set
}

func compileCommands(rules []rule) commands {
	patterns := make([]*shellparse.Pattern, len(rules))
	for i, r := range rules {
		patterns[i] = r.command
	}
	return commands{rules: rules, set: shellparse.NewSet(patterns...)}
}

// A hit is why a rule that refuses or asks decides about an act.
type hit struct {
	rule string
	// sure is false where the act could be what the rule is about and could
	// be something else.
	sure bool
	// part says which part of a command it is, or "".
	part string
}

// runs reports whether the act runs a command, or would have to say so.
func (a *Act) runs() bool {
	return a.Command != "" || a.Unclear != "" ||
		a.Filtered && slices.Contains(commandTools, a.Spec.Name) && a.Effects.Declared().Has(tool.Exec)
}

// program is what is known of the act's command.
func (a *Act) program() *shellparse.Program {
	if a.Program == nil && a.Command != "" {
		a.Program = shellparse.Parse(a.Command)
	}
	return a.Program
}

// hit returns the command rule that a part of the act's command is, or could
// be.
func (c *commands) hit(a *Act) (hit, bool) {
	if len(c.rules) == 0 || !a.runs() {
		return c.unsaid(a)
	}
	var maybe hit
	found := false
	for _, p := range []*shellparse.Program{a.program(), a.resumed} {
		if p == nil {
			continue
		}
		m, ok := c.set.Hit(p)
		if !ok {
			continue
		}
		h := hit{rule: c.rules[max(m.Pattern, 0)].text, sure: m.Sure, part: part(p, m)}
		if h.sure {
			return h, true
		}
		if !found {
			maybe, found = h, true
		}
	}
	if !found && a.Unclear != "" {
		return hit{rule: c.rules[0].text, part: a.Unclear}, true
	}
	return maybe, found
}

// unsaid is the hit where a rule is about the commands of a tool, and the tool
// does not say which it would run.
func (c *commands) unsaid(a *Act) (hit, bool) {
	if a.Filtered {
		return hit{}, false
	}
	for _, r := range c.rules {
		if r.covers(a.Spec) {
			return hit{rule: r.text, part: "the tool does not say which command it would run"}, true
		}
	}
	return hit{}, false
}

// part says which part of a command a rule is about.
func part(p *shellparse.Program, m shellparse.Match) string {
	if m.Command < 0 {
		return m.Why
	}
	return describePart(&p.Commands[m.Command]) + ": " + m.Why
}

func describePart(c *shellparse.Command) string {
	text := tool.Clip(c.String())
	if len(c.Words) == 0 {
		text = "what sets variables"
	}
	where := fmt.Sprintf("line %d", c.Line)
	if len(c.Via) > 0 {
		where += ", through " + tool.Clip(strings.Join(c.Via, " › "))
	}
	return fmt.Sprintf("%s (%s)", text, where)
}

// hitByNames returns the rule about files or hosts that decides about what
// the act's command names. reads says that rules of [fileReader] count.
func hitByNames(rules []rule, a *Act) (best hit, found bool) {
	p := a.program()
	if p == nil {
		return hit{}, false
	}
	note := func(r rule, sure bool, what string) bool {
		if !found || sure && !best.sure {
			best, found = hit{rule: r.text, sure: sure, part: what}, true
		}
		return sure
	}
	for _, r := range rules {
		switch {
		case r.domain != "":
			for i := range p.Commands {
				c := &p.Commands[i]
				for _, host := range c.Effects.Hosts {
					name := hostOf(host)
					match, clear := r.matchesHost(name)
					if (match || !clear) && note(r, match, describePart(c)+": it reaches "+tool.Clip(host)) {
						return best, true
					}
				}
			}
		case r.path != "" && (r.tool == fileReader || slices.Contains(fileWriters, r.tool)):
			if len(p.Problems) > 0 {
				note(r, false, p.Problems[0])
			}
			for i := range a.Touches {
				t := &a.Touches[i]
				if hits, sure := t.hit(&r); hits && note(r, sure, t.describe(p)) {
					return best, true
				}
			}
		}
	}
	return best, found
}

// hostOf returns the host in what a command names as one.
func hostOf(text string) string {
	if strings.Contains(text, "://") {
		if u, err := url.Parse(text); err == nil {
			return u.Host
		}
		return text
	}
	if _, after, ok := strings.Cut(text, "@"); ok {
		text = after
	}
	host, _, _ := strings.Cut(text, "/")
	return host
}

// permits returns the effects that command rules grant to the act's command,
// and the last rule that was needed. They grant all or nothing: every command
// must be covered by a rule, or be known for reading only; what redirects
// write must be what the mode or a rule about files lets be written.
func (j *Judge) permits(a *Act) (last rule, granted tool.Effects) {
	p := a.program()
	if a.resumed != nil {
		p = a.resumed
	}
	if p == nil || a.Unclear != "" || len(j.allow.commands.rules) == 0 || !a.Filtered && !j.allow.named(a.Spec) {
		return rule{}, 0
	}
	cover := j.allow.commands.set.Cover(p, true)
	if !cover.Commands() || len(cover.Hosts) > 0 {
		return rule{}, 0
	}
	by := -1
	for _, i := range cover.Rules {
		by = max(by, i)
	}
	if by < 0 {
		return rule{}, 0 // nothing but reading, which no rule is about
	}
	for _, file := range cover.Writes {
		if !j.mayWrite(a, file) {
			return rule{}, 0
		}
	}
	return j.allow.commands.rules[by], tool.AllEffects
}

// named reports whether a command rule of the list names the tool itself.
func (l *list) named(spec *tool.Spec) bool {
	return slices.ContainsFunc(l.commands.rules, func(r rule) bool { return r.covers(spec) })
}

// mayWrite reports whether a file that a redirect writes is one that may be
// written without a question.
func (j *Judge) mayWrite(a *Act, file shellparse.Path) bool {
	for i := range a.Touches {
		t := &a.Touches[i]
		if !t.Write || t.Name != file.Name {
			continue
		}
		if !t.Sure || !t.Open {
			return false
		}
		return j.mode != ReadOnly || slices.ContainsFunc(j.allow.plain, func(r rule) bool {
			return r.path != "" && slices.Contains(fileWriters, r.tool) && r.matchesPath(t.Path)
		})
	}
	return false
}

// onlyReads reports whether it is known that the act's command does nothing
// but read, beneath the workspace where no fence holds it.
func (a *Act) onlyReads() bool {
	p := a.program()
	if a.resumed != nil {
		p = a.resumed
	}
	if p == nil || a.Unclear != "" || a.Unfenced || p.Class() != shellparse.ReadOnly {
		return false
	}
	if a.Confined {
		return true
	}
	for i := range a.Touches {
		if t := &a.Touches[i]; !t.Guess && (!t.Sure || !t.Open) {
			return false
		}
	}
	return a.Located
}

// Parts describes what is known of the act's command, for a person: what is
// worst about it, and which files and hosts it names. It is empty where the
// act runs none.
func (a *Act) Parts() string {
	p := a.program()
	if p == nil {
		return a.Unclear
	}
	text := p.Class().String() + ": " + tool.Clip(p.Why())
	if a.Unclear != "" {
		text = "unknown: " + a.Unclear
	}
	for _, side := range []struct {
		name  string
		write bool
	}{{"reads", false}, {"writes", true}} {
		var names []string
		for i := range a.Touches {
			t := &a.Touches[i]
			if name := t.shown(); t.Write == side.write && !t.Guess && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if names != nil {
			text += "; " + side.name + " " + tool.Clip(strings.Join(names, " "))
		}
	}
	if hosts := p.Effects().Hosts; len(hosts) > 0 {
		text += "; reaches " + tool.Clip(strings.Join(hosts, " "))
	}
	return text
}
