package permission

import (
	"strings"
	"testing"
)

// FuzzRule: no rule text crashes the parser, every mistake quotes the rule,
// and a rule that is taken denies what it names and nothing of another tool.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{"read_file", "view", "re*", "read_file(a/**)", "web_fetch(domain:example.com)", "shell(git *)", "read_file([)", "(", "*", "read_file(./x/)"} {
		f.Add(seed, "a/b.txt")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		j, err := New(Config{Mode: FullAccess, Deny: []string{text}}, catalog)
		if err != nil {
			if len(err.Error()) > 4096 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		for _, spec := range catalog {
			v := j.Judge(act(spec, path))
			named := spec.Name == name(text) || len(spec.Aliases) > 0 && spec.Aliases[0] == name(text)
			wild := strings.Contains(text, "*") && strings.HasPrefix(spec.Name, strings.TrimSuffix(name(text), "*"))
			aliasWild := strings.Contains(text, "*") && len(spec.Aliases) > 0 && strings.HasPrefix(spec.Aliases[0], strings.TrimSuffix(name(text), "*"))
			if v.Outcome == Deny && !named && !wild && !aliasWild {
				t.Errorf("%q denies %s", text, spec.Name)
			}
			if named && !strings.Contains(text, "(") && v.Outcome != Deny {
				t.Errorf("%q does not deny %s", text, spec.Name)
			}
		}
	})
}

func name(text string) string {
	n, _, _ := strings.Cut(text, "(")
	return n
}
