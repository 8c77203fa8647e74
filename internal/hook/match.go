package hook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// matcher is a compiled [Hook].Matcher. The zero value matches everything.
type matcher struct {
	names []string
	expr  *regexp.Regexp
}

// plainMatcher is a matcher that lists names.
var plainMatcher = func(r rune) bool {
	return r == '_' || r == '-' || r == '|' || r == ',' || r == ' ' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func newMatcher(text string) (matcher, error) {
	if text = strings.TrimSpace(text); text == "" || text == "*" {
		return matcher{}, nil
	}
	if strings.IndexFunc(text, func(r rune) bool { return !plainMatcher(r) }) < 0 {
		var m matcher
		for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '|' || r == ',' }) {
			if name = strings.TrimSpace(name); name != "" {
				m.names = append(m.names, name)
			}
		}
		if m.names == nil {
			return m, fmt.Errorf("the matcher %q names nothing; leave it out to match everything", tool.Clip(text))
		}
		return m, nil
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return matcher{}, fmt.Errorf("the matcher %q is neither a list of names nor a regular expression that is understood here (%w)", tool.Clip(text), err)
	}
	return matcher{expr: expr}, nil
}

// all reports whether it matches everything.
func (m matcher) all() bool { return m.names == nil && m.expr == nil }

func (m matcher) matches(names ...string) bool {
	switch {
	case m.all():
		return true
	case m.expr != nil:
		return slices.ContainsFunc(names, m.expr.MatchString)
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(m.names, name) })
}

// claudeNames finds tools by their names in Claude Code too, whatever names
// the session shows to its model.
type claudeNames struct{ known permission.Names }

// Names implements [permission.Names].
func (n claudeNames) Names() []string {
	if n.known == nil {
		return nil
	}
	return n.known.Names()
}

// Resolve implements [permission.Names].
func (n claudeNames) Resolve(name string) (*tool.Spec, bool) {
	if n.known == nil {
		return nil, false
	}
	if spec, ok := n.known.Resolve(name); ok {
		return spec, true
	}
	sf, err := claude()
	if err != nil {
		return nil, false
	}
	if form, ok := sf.ByName(name); ok {
		return n.known.Resolve(form.Target)
	}
	return nil, false
}

// condition is a compiled [Hook].If: whether a rule could be about an act. nil
// is about every act.
type condition func(permission.Act) bool

// newCondition compiles a rule. It is taken as a deny rule is, which counts
// wherever it could match: a gate must not be lost because something about a
// call is unclear.
func newCondition(rule string, names permission.Names) (condition, error) {
	if rule == "" {
		return nil, nil
	}
	judge, err := permission.New(permission.Config{Mode: permission.FullAccess, Deny: []string{rule}}, claudeNames{names})
	if err != nil {
		_, text, _ := strings.Cut(err.Error(), "permission.deny: ")
		return nil, fmt.Errorf("if: %s", text)
	}
	return func(a permission.Act) bool {
		a.Protected, a.Unfenced = "", false // which have verdicts of their own
		return judge.Judge(a).Outcome != permission.Allow
	}, nil
}
