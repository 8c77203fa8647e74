package foreign

import (
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// anyTool resolves every name, as a tool that touches files: what is checked
// is the pattern.
type anyTool struct{}

func (anyTool) Resolve(name string) (*tool.Spec, bool) {
	return &tool.Spec{Name: name, Effects: tool.Read | tool.Write}, true
}

func (anyTool) Names() []string { return nil }

// invalidRule says what is wrong with a rule of ours, or "".
func invalidRule(rule string) string {
	_, err := permission.New(permission.Config{Deny: []string{rule}}, anyTool{})
	if err == nil {
		return ""
	}
	text := strings.TrimPrefix(err.Error(), "permission settings:\n- permission.deny: ")
	return strings.TrimPrefix(text, strconv.Quote(rule)+": ")
}

// invalidPath says what is wrong with the first path pattern that cannot be.
func invalidPath(patterns []string) string {
	for _, p := range patterns {
		if why := invalidRule("read_file(" + p + ")"); why != "" {
			return why
		}
	}
	return ""
}
