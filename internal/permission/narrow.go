package permission

import (
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

const (
	// maxOffered is how many rules one offer may have. A person reads three
	// lines before a yes, and not thirty.
	maxOffered = 4
	// maxOfferedRule is the longest rule that is offered, in bytes.
	maxOfferedRule = 300
)

// narrowRules returns sets of allow rules that could cover the act, the
// narrowest first: for a command that command, for files those files, for
// hosts those hosts. An act of which nothing narrow can be said has none: a
// bare tool name would be a rule about every call.
func narrowRules(a Act) [][]string {
	if a.Spec == nil || a.Unclear != "" {
		return nil
	}
	var sets [][]string
	switch {
	case a.Command != "":
		for _, patterns := range commandPatterns(a.Command) {
			sets = append(sets, ruleFor(a.Spec.Name, patterns))
		}
	default:
		patterns, ok := pathPatterns(slices.Concat(a.Reads, a.Writes, a.Trees))
		if !ok || a.Unresolved != "" {
			return nil
		}
		for _, host := range a.Hosts {
			name, _, ok := parseHost(host)
			if !ok {
				return nil
			}
			patterns = append(patterns, "domain:"+name)
		}
		sets = append(sets, ruleFor(a.Spec.Name, patterns))
	}
	return slices.DeleteFunc(sets, func(rules []string) bool {
		return len(rules) == 0 || len(rules) > maxOffered || slices.ContainsFunc(rules, func(r string) bool { return len(r) > maxOfferedRule })
	})
}

// ruleFor writes each pattern once as a rule of the tool.
func ruleFor(name string, patterns []string) []string {
	var rules []string
	for _, p := range patterns {
		if rule := name + "(" + p + ")"; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// pathPatterns writes each path as a pattern that matches it and, where it is
// a folder, what is below it. What a pattern would read otherwise than the
// path has none.
func pathPatterns(paths []string) ([]string, bool) {
	var patterns []string
	for _, p := range paths {
		if p == "." || p == "" || strings.HasPrefix(p, "/") || strings.TrimSpace(p) != p || strings.ContainsAny(p, "*?[]{}\\!~()\"'`\n\r\t\x00") {
			return nil, false
		}
		patterns = append(patterns, "/"+p)
	}
	return patterns, true
}

// commandPatterns returns patterns that cover a script: every command of it
// exactly as it is written, and, where it is one command that can only read
// whatever its arguments are, that command with any. A script of which
// anything is not known has none, and neither has one that redirects: rules
// about commands do not cover where output goes.
func commandPatterns(script string) [][]string {
	program := shellparse.Parse(script)
	if len(program.Problems) > 0 || len(program.Commands) == 0 || len(program.Commands) > maxOffered {
		return nil
	}
	var exact []string
	for i := range program.Commands {
		c := &program.Commands[i]
		pattern, ok := exactPattern(c)
		if !ok {
			return nil
		}
		exact = append(exact, pattern)
	}
	if !covers(program, exact) {
		return nil
	}
	sets := [][]string{exact}
	if c := &program.Commands[0]; len(program.Commands) == 1 && c.Harmless() {
		if wider := []string{c.Name + " *"}; covers(program, wider) {
			sets = append(sets, wider)
		}
	}
	return sets
}

// exactPattern writes a command as the pattern that matches it alone. Text
// in which a pattern would see a wildcard, and text that a person would have to
// read twice, has none.
func exactPattern(c *shellparse.Command) (string, bool) {
	if c.Opaque != "" || c.Code != "" || c.Remote || len(c.Via) > 0 || len(c.Words) == 0 || len(c.Assigns) > 0 || len(c.Redirects) > 0 {
		return "", false
	}
	var words []string
	for _, w := range c.Words {
		if !w.Known || w.Computed || w.Glob || w.Many || w.Text == "" || strings.ContainsAny(w.Text, "*?[]{}()#~!\\'\"`$;&|<>\n\r\t\x00\x01\x02") {
			return "", false
		}
		text := w.Text
		if strings.Contains(text, " ") {
			text = "'" + text + "'"
		}
		words = append(words, text)
	}
	if strings.Contains(words[0], ":") {
		return "", false // which would begin another kind of pattern
	}
	return strings.Join(words, " "), true
}

// covers reports whether the patterns permit the whole script.
func covers(p *shellparse.Program, patterns []string) bool {
	var set []*shellparse.Pattern
	for _, text := range patterns {
		pattern, err := shellparse.ParsePattern(text)
		if err != nil {
			return false
		}
		set = append(set, pattern)
	}
	return shellparse.NewSet(set...).Cover(p, false).All()
}
