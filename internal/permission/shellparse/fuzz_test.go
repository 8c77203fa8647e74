package shellparse

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func seeds(f *testing.F) {
	for _, s := range append(append([]string{twenty}, spellingsOfGit.caught...), spellingsOfGit.missed...) {
		f.Add(s)
	}
	for _, s := range []string{
		"cat <<'E' | sh\ngit x\nE", "git -c alias.x='!git y' x", "a[$(git x)]=1", "$'\\x67it' x", "g{i,}t x", "f() { git x; }; f", "((a=1)); let b=2", "case x in y) git z;; esac", "x=${y:=git}; $x z",
		"alias a='a b'; a", "alias a=b b=a; a x", "eval eval eval git", "sh -c 'sh -c \"sh -c git\"'", "export -n x; declare -A y=([a]=b)", "\\", "{a,{b,c}}{d,e}", "[", "\"\"", "parallel x{ ::: y", "tar tf", "ssh -o", "find -exec", "sudo -u", "env -S", "xargs -I", "git -c", "trap", "su -c",
	} {
		f.Add(s)
	}
}

// FuzzParse asks that no text makes it fail or run away, and that a verdict
// never rests on nothing.
func FuzzParse(f *testing.F) {
	seeds(f)
	everything := NewSet(mustPattern("git *"), mustPattern("* x *"))
	f.Fuzz(func(t *testing.T, script string) {
		p := Parse(script)
		if len(p.Commands) > MaxCommands || len(p.Problems) > 8 {
			t.Fatalf("%d commands, %d problems", len(p.Commands), len(p.Problems))
		}
		for i := range p.Commands {
			c := &p.Commands[i]
			if c.Opaque != "" && c.Class == ReadOnly {
				t.Errorf("%s is opaque (%s) and read-only", c, c.Opaque)
			}
			if c.Class != ReadOnly && c.Why == "" {
				t.Errorf("%s is %s for no reason", c, c.Class)
			}
		}
		everything.Hit(p)
		everything.Cover(p, true)
		if p.Class() == ReadOnly && len(p.Effects().Writes) > 0 {
			t.Errorf("%q is read-only and writes %v", script, p.Effects().Writes)
		}
	})
}

func mustPattern(text string) *Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		panic(err)
	}
	return p
}

// FuzzTwin asks that a script which is refused is refused in other spellings
// too: printed anew, with its literals quoted, inside "sh -c".
func FuzzTwin(f *testing.F) {
	seeds(f)
	deny := NewSet(mustPattern("git *"))
	f.Fuzz(func(t *testing.T, script string) {
		// A script that begins like an option is one to sh -c; of a backslash
		// at the end the printer makes another; a quoted name is no alias.
		if len(script) > 2000 || strings.HasSuffix(script, "\\") || strings.Contains(script, "alias") || looksOtherwise(script) != "" || strings.HasPrefix(script, "-") || strings.HasPrefix(script, "+") {
			return
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
		if err != nil {
			return
		}
		if len(Parse(script).Problems) > 0 {
			return // What is not understood cannot be printed anew.
		}
		_, denied := deny.Hit(Parse(script))
		if !denied {
			if deny.Cover(Parse(script), false).All() && len(Parse(script).Commands) > 0 && !neutral(Parse(script)) {
				t.Errorf("%q is not refused by the rule that allows it", script)
			}
			return
		}
		for _, twin := range twins(file, script) {
			p := Parse(twin)
			if _, ok := deny.Hit(p); !ok {
				t.Errorf("%q is refused and its twin %q is not", script, twin)
			}
		}
	})
}

func neutral(p *Program) bool {
	for _, rule := range NewSet().Cover(p, false).Rules {
		if rule == CoverNone {
			return false
		}
	}
	return true
}

// twins are other spellings of a script.
func twins(file *syntax.File, script string) []string {
	var list []string
	var b strings.Builder
	if syntax.NewPrinter(syntax.Minify(true)).Print(&b, file) == nil {
		list = append(list, b.String())
	}
	list = append(list, "  "+script+"\n", "{\n"+script+"\n}", "(\n"+script+"\n)")
	if quoted, err := syntax.Quote(script, syntax.LangBash); err == nil {
		list = append(list, "sh -c "+quoted, "eval "+quoted, "sudo -n bash -ec "+quoted)
	}
	// The names of commands, quoted.
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			if lit, ok := call.Args[0].Parts[0].(*syntax.Lit); ok && len(call.Args[0].Parts) == 1 && !strings.ContainsAny(lit.Value, "\\*?[{~'\"") {
				call.Args[0].Parts[0] = &syntax.SglQuoted{Value: lit.Value}
			}
		}
		return true
	})
	b.Reset()
	if syntax.NewPrinter().Print(&b, file) == nil {
		list = append(list, b.String())
	}
	return list
}
