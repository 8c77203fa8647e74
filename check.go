package handrail

import (
	"errors"
	"fmt"
	"slices"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
)

// A RuleFinding is something about a permission rule that its author will not
// have meant.
type RuleFinding = permission.Finding

// CheckRules looks for rules of the session that do not do what they seem to:
// that never decide, that another rule forestalls, that allow more than their
// words say, or that another spelling slips past.
func (s *Session) CheckRules() ([]RuleFinding, error) {
	hidden := func(name string) string {
		_, err := s.view.Resolve(name)
		if err == nil {
			return ""
		}
		if denied, ok := errors.AsType[*registry.DeniedError](err); ok {
			return fmt.Sprintf("%s is not in this session: it is %s", name, denied.Decision)
		}
		return name + " is not in this session"
	}
	names := ruleNames{s.registry}
	found, err := permission.Lint(s.options.Permission, names, hidden)
	if err != nil {
		return nil, err
	}
	return append(found, s.offered(names, hidden)...), nil
}

// offered finds the tools that a policy offers to the model by name and of
// which the permission rules refuse every call.
func (s *Session) offered(names ruleNames, hidden func(string) string) (found []RuleFinding) {
	for _, rule := range s.options.Permission.Deny {
		spec, ok := names.Resolve(rule)
		if !ok || hidden(spec.Name) != "" {
			continue
		}
		kind, text := permission.Advice, "every call is refused, and the tool is still shown to the model; policy.deny takes it away"
		if slices.Contains(s.options.Policy.Allow, rule) || slices.Contains(s.options.Policy.Allow, spec.Name) {
			kind, text = permission.Conflict, "policy.allow offers the tool to the model and every call of it is refused; take it out of one of the two"
		}
		found = append(found, RuleFinding{List: "deny", Rule: rule, Kind: kind, Text: text})
	}
	return found
}
