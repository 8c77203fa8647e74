package foreign

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

const (
	// maxTokens is how many words a prefix may have, and maxExamples how many
	// examples. People write three of each.
	maxTokens   = 64
	maxExamples = 100
	// maxTotal is how many words all rules of a file may have together.
	maxTotal = 200_000
)

// A prefix is one prefix_rule.
type prefix struct {
	line     int
	tokens   [][]string
	decision effect
	// match and notMatch are its examples.
	match, notMatch [][]string
}

func (p prefix) String() string {
	words := make([]string, len(p.tokens))
	for i, t := range p.tokens {
		words[i] = strings.Join(t, "|")
	}
	return strings.Join(words, " ")
}

// matches reports whether the words begin with the prefix, exactly.
func (p prefix) matches(words []string) bool {
	if len(words) < len(p.tokens) {
		return false
	}
	for i, alternatives := range p.tokens {
		if !slices.Contains(alternatives, words[i]) {
			return false
		}
	}
	return true
}

var decisions = map[string]effect{"allow": allows, "prompt": asks, "forbidden": denies}

// prefixRule reads a call of prefix_rule and checks its examples.
func (c *codex) prefixRule(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern, match, notMatch *starlark.List
	decision, justification, reviewer := "allow", "", starlark.Value(starlark.None)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "pattern", &pattern, "decision?", &decision, "justification?", &justification,
		"match?", &match, "not_match?", &notMatch, "reviewer?", &reviewer); err != nil {
		return nil, err
	}
	e, ok := decisions[decision]
	if !ok {
		return nil, fmt.Errorf("the decision %q is not known; it is allow, prompt or forbidden", clip(decision))
	}
	tokens, err := c.tokens(pattern)
	if err != nil {
		return nil, err
	}
	p := prefix{line: c.line(t), tokens: tokens, decision: e}
	if c.size += len(tokens); c.size > maxTotal || len(c.prefixes) >= MaxRules {
		return nil, errors.New("the file has too many rules")
	}
	if p.match, err = c.examples(match); err == nil {
		p.notMatch, err = c.examples(notMatch)
	}
	if err != nil {
		return nil, fmt.Errorf("an example of the rule %q: %w", clip(p.String()), err)
	}
	c.prefixes = append(c.prefixes, p)
	return starlark.None, nil
}

// check tries the examples of a rule, once it is known where the programs of
// the whole file are accepted.
func (c *codex) check(p prefix) {
	var set *shellparse.Set
	if compiled, err := shellparse.PrefixPattern(p.tokens); err == nil { // else it is said where the rule is carried over
		set = shellparse.NewSet(compiled)
	}
	try := func(words []string, want bool, name string) {
		switch {
		case c.matches(p, words) != want:
			c.problem(p.line, "the rule %q is not what its example says: %s has %q", clip(p.String()), name, clip(strings.Join(words, " ")))
		case set != nil:
			c.compare(p, set, words, want)
		}
	}
	for _, words := range p.match {
		try(words, true, "match")
	}
	for _, words := range p.notMatch {
		try(words, false, "not_match")
	}
}

// matches reports whether a rule is about a command: by its first word as it
// stands, or by the name of the program where that is an absolute path which
// host_executable does not exclude.
func (c *codex) matches(p prefix, words []string) bool {
	if p.matches(words) || len(words) == 0 || !path.IsAbs(words[0]) {
		return p.matches(words)
	}
	name := path.Base(words[0])
	if list, listed := c.hosts[name]; listed && !slices.Contains(list, words[0]) {
		return false
	}
	return p.matches(append([]string{name}, words[1:]...))
}

// tokens reads a pattern: words, each of which may be a list of alternatives.
func (c *codex) tokens(pattern *starlark.List) ([][]string, error) {
	if pattern.Len() == 0 || pattern.Len() > maxTokens {
		return nil, fmt.Errorf("a pattern has 1 to %d words", maxTokens)
	}
	tokens := make([][]string, pattern.Len())
	for i := range tokens {
		switch v := pattern.Index(i).(type) {
		case starlark.String:
			tokens[i] = []string{string(v)}
		case *starlark.List:
			words, err := wordList(v)
			if err != nil {
				return nil, fmt.Errorf("the alternatives of a pattern: %w", err)
			}
			tokens[i] = words
		default:
			return nil, fmt.Errorf("a word of a pattern is a string or a list of strings, not a %s", v.Type())
		}
		c.size += len(tokens[i])
	}
	return tokens, nil
}

func wordList(list *starlark.List) ([]string, error) {
	if list.Len() == 0 || list.Len() > maxExamples {
		return nil, fmt.Errorf("a list of words has 1 to %d of them", maxExamples)
	}
	words := make([]string, list.Len())
	for i := range words {
		s, ok := starlark.AsString(list.Index(i))
		if !ok {
			return nil, fmt.Errorf("a word is a string, not a %s", list.Index(i).Type())
		}
		words[i] = s
	}
	return words, nil
}

// examples reads a list of commands, each a list of words or one line.
func (c *codex) examples(list *starlark.List) ([][]string, error) {
	if list == nil {
		return nil, nil
	}
	if list.Len() > maxExamples {
		return nil, fmt.Errorf("there are more than %d examples", maxExamples)
	}
	all := make([][]string, list.Len())
	for i := range all {
		var err error
		switch v := list.Index(i).(type) {
		case starlark.String:
			all[i], err = lineWords(string(v))
		case *starlark.List:
			all[i], err = wordList(v)
		default:
			err = fmt.Errorf("an example is a string or a list of words, not a %s", v.Type())
		}
		if err != nil {
			return nil, err
		}
		c.size += len(all[i])
	}
	return all, nil
}

// lineWords splits a line as the shell does.
func lineWords(line string) ([]string, error) {
	p := shellparse.Parse(line)
	if len(p.Problems) > 0 || len(p.Commands) == 0 {
		return nil, fmt.Errorf("%q is not a command", clip(line))
	}
	words := make([]string, len(p.Commands[0].Words))
	for i, w := range p.Commands[0].Words {
		words[i] = w.Text
	}
	return words, nil
}

// compare says where our reading of a rule differs from that of Codex on an
// example. For what refuses ours is wider, and that is only told.
func (c *codex) compare(p prefix, set *shellparse.Set, words []string, want bool) {
	script := make([]string, len(words))
	for i, w := range words {
		script[i] = quote(w)
	}
	program := shellparse.Parse(strings.Join(script, " "))
	got := set.Cover(program, false).Commands()
	if p.decision != allows {
		_, got = set.Hit(program)
	}
	line := clip(strings.Join(words, " "))
	switch {
	case got == want:
	case want && p.decision == allows:
		c.note(p.line, "allow %q does not cover %q here: it runs more than the rule can speak for", clip(p.String()), line)
	case want:
		c.problem(p.line, "%s %q would not hold for %q", p.decision, clip(p.String()), line)
	case p.decision == allows:
		c.problem(p.line, "allow %q would cover %q", clip(p.String()), line)
	default:
		c.note(p.line, "%s %q holds for %q too: options count in any order and spelling", p.decision, clip(p.String()), line)
	}
}

// carry says a rule in ours, one for each of its alternatives.
func (c *codex) carry(p prefix) {
	entry := p.String()
	if _, err := shellparse.PrefixPattern(p.tokens); err != nil {
		c.cannot(p.decision, p.line, entry, err.Error())
		return
	}
	for _, words := range combinations(p.tokens) {
		if p.decision == allows && !c.accepted(words[0]) {
			c.cannot(allows, p.line, entry, "host_executable accepts the program in none of the folders of the system, and "+
				"a rule of ours names a program wherever the system has it")
			continue
		}
		rule, why := commandRule(words, p.decision)
		if why != "" {
			c.cannot(p.decision, p.line, entry, why)
			continue
		}
		for _, tool := range shells {
			c.add(p.decision, named(tool, rule))
		}
	}
}

// accepted reports whether a program may be one that the system has.
func (c *codex) accepted(name string) bool {
	list, listed := c.hosts[name]
	return !listed || slices.ContainsFunc(list, func(p string) bool {
		return slices.Contains([]string{"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"}, path.Dir(p))
	})
}

// combinations returns every list of words that a prefix stands for.
// PrefixPattern has bounded how many that are.
func combinations(tokens [][]string) [][]string {
	all := [][]string{nil}
	for _, alternatives := range tokens {
		var next [][]string
		for _, list := range all {
			for _, word := range alternatives {
				next = append(next, append(slices.Clone(list), word))
			}
		}
		all = next
	}
	return all
}

// commandRule writes words as the pattern of a rule.
func commandRule(words []string, e effect) (rule, why string) {
	quoted := make([]string, len(words))
	for i, w := range words {
		if strings.Contains(w, "*") && e == allows {
			return "", `"*" stands for any text in a rule of ours, which would allow more`
		}
		quoted[i] = quote(w)
	}
	rule = strings.Join(quoted, " ") + ":*"
	written, err := shellparse.ParsePattern(rule)
	if err != nil {
		return "", err.Error()
	}
	// It is read back and tried, since what it refuses must not be lost.
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	if _, hit := shellparse.NewSet(written).Hit(shellparse.Parse(strings.Join(quoted, " "))); e != allows && !hit {
		return "", "it cannot be written as a rule of ours"
	}
	return rule, ""
}

// quote writes a word as the shell reads it back.
func quote(w string) string {
	plain := strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-*") == ""
	if plain && w != "" && !strings.HasSuffix(w, ":") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
