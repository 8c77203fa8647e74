package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/handrail-tools/handrail/internal/foldname"
	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// rule is one parsed entry of a list.
type rule struct {
	text string
	// tool is the canonical name; prefix is set instead for name*.
	tool, prefix string
	// any is true for a rule without a pattern: it covers every call.
	any  bool
	path string // gitignore-style pattern of workspace paths
	// folded is path in the form in which rules that refuse or ask compare
	// names too, since a file system may take one spelling for another. It is
	// empty for a rule that allows.
	folded string
	domain string // host as parseHost gives it, and everything below it
	// tokens are path and what lies beneath it, to be compared with names that
	// are computed.
	tokens []token
	// command is the pattern of a rule about commands, else nil.
	command *shellparse.Pattern
}

// parseRule reads Tool or Tool(pattern).
func parseRule(text string, names Names) (rule, error) {
	r := rule{text: text}
	name, pattern, has := strings.Cut(text, "(")
	if has {
		if !strings.HasSuffix(pattern, ")") {
			return r, fmt.Errorf("%q has an opening bracket and no closing one at its end", tool.Clip(text))
		}
		pattern = strings.TrimSuffix(pattern, ")")
	}
	if name == "" || name != strings.TrimSpace(name) {
		return r, fmt.Errorf("%q does not start with the name of a tool", tool.Clip(text))
	}
	spec, err := r.resolve(name, names)
	if err != nil {
		return r, err
	}
	if !has || pattern == "*" || pattern == "**" {
		r.any = true
		return r, nil
	}
	return r, r.parsePattern(pattern, spec)
}

// resolve finds the tool that a rule names.
func (r *rule) resolve(name string, names Names) (*tool.Spec, error) {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		if prefix == "" || strings.Contains(prefix, "*") {
			return nil, fmt.Errorf("%q: a wildcard stands once, at the end of a name", tool.Clip(r.text))
		}
		r.prefix = prefix
		return nil, nil
	}
	spec, ok := names.Resolve(name)
	if !ok && slices.Contains(hostReaders, name) && strings.HasPrefix(r.text, name+"(domain:") {
		r.tool = hostReaders[0]
		return nil, nil
	}
	if !ok {
		msg := fmt.Sprintf("%q names no tool", tool.Clip(r.text))
		if near, ok := suggest.Nearest(name, names.Names()); ok {
			msg += fmt.Sprintf(" (did you mean %q?)", near)
		}
		return nil, errors.New(msg)
	}
	r.tool = spec.Name
	return spec, nil
}

// parsePattern reads what stands between the brackets, by what the tool can
// do: a pattern that could never match anything is an error.
func (r *rule) parsePattern(pattern string, spec *tool.Spec) error {
	if pattern == "" {
		return fmt.Errorf("%q has an empty pattern; write the bare name to cover every call", tool.Clip(r.text))
	}
	if strings.TrimSpace(pattern) != pattern {
		return fmt.Errorf("%q: a blank at either end of a pattern matches nothing; leave it out", tool.Clip(r.text))
	}
	if host, ok := strings.CutPrefix(pattern, "domain:"); ok {
		name, port, ok := parseHost(host)
		if !ok || port {
			return fmt.Errorf("%q: a domain is a bare host name or address, in ASCII and without a port; it covers the names below it too", tool.Clip(r.text))
		}
		r.domain = name
		return nil
	}
	if spec == nil || spec.Effects == 0 {
		return fmt.Errorf("%q: a pattern needs one tool, which says what it does; use the bare name", tool.Clip(r.text))
	}
	if spec.Effects.Has(tool.Exec) {
		p, err := shellparse.ParsePattern(pattern)
		if err != nil {
			return fmt.Errorf("%q: %w", tool.Clip(r.text), err)
		}
		r.command = p
		return nil
	}
	if err := relative(pattern); err != nil {
		return fmt.Errorf("%q: %w", tool.Clip(r.text), err)
	}
	r.path = anchored(pattern)
	if !doublestar.ValidatePattern(r.path) {
		return fmt.Errorf("%q is not a valid path pattern", tool.Clip(r.text))
	}
	r.tokens = orBeneath(ofRule(foldname.Text(r.path)))
	return nil
}

// relative refuses patterns that no path of the workspace could match.
func relative(pattern string) error {
	inner, dotted := strings.CutPrefix(pattern, "./")
	if !dotted {
		inner = strings.TrimPrefix(pattern, "/")
	}
	elems := strings.Split(strings.TrimSuffix(inner, "/"), "/")
	switch {
	case strings.HasPrefix(pattern, "!"):
		return errors.New("a rule cannot take back another with \"!\"; write what it covers")
	case strings.HasPrefix(pattern, "~"), slices.Contains(elems, ".."):
		return errors.New("a path pattern is relative to the workspace, without \"..\" and \"~\"")
	case slices.Contains(elems, ""), slices.Contains(elems, "."):
		return errors.New("a path has no empty and no \".\" element, so the pattern matches nothing")
	}
	return nil
}

// anchored applies gitignore's rule: a pattern without a slash before its
// last character matches at every depth, one that begins with a slash is
// seen from the top of the workspace, and a folder covers what is below it.
func anchored(pattern string) string {
	dir := strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if !strings.Contains(dir, "/") {
		return "**/" + dir
	}
	return strings.TrimPrefix(dir, "/")
}

// about reports whether the rule is about the act's tool, or about another of
// those that run commands while the act runs one.
func (r *rule) about(a *Act) bool {
	return r.covers(a.Spec) || a.Filtered && r.tool != "" && slices.Contains(commandTools, r.tool) &&
		slices.Contains(commandTools, a.Spec.Name) && a.Effects.Declared().Has(tool.Exec)
}

// hostReaders are the names of the tool that fetches from hosts. A rule about
// hosts may be written for it where a session does not have it, since it holds
// for commands too.
var hostReaders = []string{"web_fetch", "WebFetch"}

// covers reports whether the rule is about the tool at all.
func (r *rule) covers(spec *tool.Spec) bool {
	if r.prefix == "" {
		return r.tool == spec.Name
	}
	if strings.HasPrefix(spec.Name, r.prefix) {
		return true
	}
	return slices.ContainsFunc(spec.Aliases, func(a string) bool { return strings.HasPrefix(a, r.prefix) })
}

// matchesPath reports whether p or a directory above it matches.
// The top of the workspace matches only what matches every path: it has no
// name that a wildcard could stand for.
func (r *rule) matchesPath(p string) bool {
	if p == "." {
		return r.path == "**" || r.path == "**/**" || r.path == "**/*"
	}
	if matchesBeneath(r.path, p) {
		return true
	}
	if r.folded == "" {
		return false
	}
	folded := foldname.Text(p)
	return (folded != p || r.folded != r.path) && matchesBeneath(r.folded, folded)
}

func matchesBeneath(pattern, p string) bool {
	return doublestar.MatchUnvalidated(pattern, p) || doublestar.MatchUnvalidated(pattern+"/**", p)
}

// matchesHost reports whether the rule is about host, and whether that can be
// told at all.
func (r *rule) matchesHost(host string) (match, clear bool) {
	name, _, ok := parseHost(host)
	return ok && (name == r.domain || strings.HasSuffix(name, "."+r.domain)), ok
}

// mayMean reports whether a host is or could be one that the rule is about.
func (r *rule) mayMean(host string) bool {
	match, clear := r.matchesHost(host)
	return match || !clear
}

// matchAny returns the first rule that matches any part of the act. What
// could not be resolved, or was not stated, counts as matching: a deny must
// not be lost because a path is unclear. byFileReader says that the path rules
// of [fileReader] count for what any of Handrail's own tools reads.
func matchAny(rules []rule, a Act, byFileReader bool) (rule, bool) {
	for i := range rules {
		r := &rules[i]
		inTree := func(tree string) bool { return r.matchesTree(tree, a.Filtered) }
		if !r.about(&a) {
			if r.closes(a) && byFileReader && (slices.ContainsFunc(a.Trees, inTree) || slices.ContainsFunc(a.Reads, r.matchesPath)) {
				return *r, true
			}
			if r.guards(a) && (slices.ContainsFunc(a.Trees, inTree) || slices.ContainsFunc(a.Writes, r.matchesPath)) {
				return *r, true
			}
			continue
		}
		switch {
		case r.any:
			return *r, true
		case r.domain != "":
			if len(a.Hosts) == 0 && a.Program == nil || slices.ContainsFunc(a.Hosts, r.mayMean) {
				return *r, true
			}
		default:
			if a.Unresolved != "" || len(a.Reads)+len(a.Writes)+len(a.Trees) == 0 || slices.ContainsFunc(a.Trees, inTree) ||
				slices.ContainsFunc(a.Reads, r.matchesPath) || slices.ContainsFunc(a.Writes, r.matchesPath) {
				return *r, true
			}
		}
	}
	return rule{}, false
}

// matchAll returns what the allow rules together grant of the act's effects,
// and the last rule needed for it. A rule without a pattern grants all of
// them. Path rules grant reading and writing, each only where the act says
// which files that means and the rules cover every one; domain rules grant
// the network, where they cover every host.
func matchAll(rules []rule, a Act) (last rule, granted tool.Effects) {
	for i := range rules {
		if r := &rules[i]; r.any && r.about(&a) {
			return *r, tool.AllEffects
		}
	}
	if a.runs() {
		return rule{}, 0
	}
	covered := func(parts []string, match func(*rule, string) bool) bool {
		for _, part := range parts {
			i := slices.IndexFunc(rules, func(r rule) bool { return r.covers(a.Spec) && match(&r, part) })
			if i < 0 {
				return false
			}
			last = rules[i]
		}
		return len(parts) > 0
	}
	byPath := func(r *rule, p string) bool { return r.path != "" && r.matchesPath(p) }
	byHost := func(r *rule, h string) bool {
		match, _ := r.matchesHost(h)
		return r.domain != "" && match
	}
	if a.Unresolved == "" && covered(slices.Concat(a.Reads, a.Writes, a.Trees), byPath) {
		granted |= tool.Read
		if len(a.Writes) > 0 {
			granted |= tool.Write
		}
	}
	if covered(a.Hosts, byHost) {
		granted |= tool.Network
	}
	return last, granted
}
