package permission

import (
	"slices"
	"testing"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/tool"
)

// TestCommandPatterns: what is offered for always is the command itself; any
// arguments only for a program that cannot do more than read with any.
func TestCommandPatterns(t *testing.T) {
	for _, c := range []struct {
		script string
		want   [][]string
	}{
		{"go test ./...", [][]string{{"go test ./..."}}},
		{"npm run build", [][]string{{"npm run build"}}},
		{"ls -la", [][]string{{"ls -la"}, {"ls *"}}},
		{"cat a.txt", [][]string{{"cat a.txt"}, {"cat *"}}},
		{"git commit -m 'a fix'", [][]string{{"git commit -m 'a fix'"}}},
		{"make && make install", [][]string{{"make", "make install"}}},
		// sort writes with -o, find runs with -exec, git log writes with --output.
		{"sort a.txt", [][]string{{"sort a.txt"}}},
		{"find . -name x", [][]string{{"find . -name x"}}},
		{"git log --oneline", [][]string{{"git log --oneline"}}},
		// F078, F080, codex 37: interpreters, wrappers and what hides a command.
		{"python3 x.py", [][]string{{"python3 x.py"}}},
		{"python3 -c 'print(1)'", nil},
		{"bash -c 'ls'", nil},
		{"sudo ls", nil},
		{"env A=b ls", nil},
		{"xargs rm", nil},
		{"timeout 5 ls", nil},
		{"awk '{print}' f", nil},
		{"eval ls", nil},
		// Where output goes, a rule about commands does not say.
		{"ls > f", nil},
		{"cat < f", nil},
		// What is not known cannot be named.
		{"$X y", nil},
		{"echo $(id)", nil},
		{"rm *.txt", nil},
		{"ls 'a*'", nil},
		{"domain:x y", nil},
		{"FOO=bar make", nil},
		{"if", nil},
		{"", nil},
		{"a; b; c; d; e", nil},
	} {
		if got := commandPatterns(c.script); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%q: %q, want %q", c.script, got, c.want)
		}
	}
}

// FuzzCommandPatterns: what is offered covers its own script; only the wider
// offer covers another, and that one only reads.
func FuzzCommandPatterns(f *testing.F) {
	for _, s := range []string{"ls -la", "go test ./...", "a && b", "git commit -m 'x y'", "echo \"a b\" c", "cat 'a b'", "grep -e x f", "x:* y", "\\ls", "ls\\ a", "ls -- -x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		for i, patterns := range commandPatterns(script) {
			p := shellparse.Parse(script)
			if !covers(p, patterns) {
				t.Fatalf("%q is not covered by %q", script, patterns)
			}
			for _, c := range p.Commands {
				other := shellparse.Parse(c.String() + " --one-more")
				if i == 0 && covers(other, patterns) {
					t.Fatalf("%q covers %q too", patterns, c.String()+" --one-more")
				}
				if i > 0 && p.Class() != shellparse.ReadOnly {
					t.Fatalf("%q is offered for %q, which is %s", patterns, script, p.Class())
				}
			}
		}
	})
}

// TestNarrowRules: files and hosts are named one by one, and what a pattern
// would read otherwise has no rule.
func TestNarrowRules(t *testing.T) {
	spec := &tool.Spec{Name: "x", Effects: tool.AllEffects}
	for _, c := range []struct {
		name string
		act  Act
		want [][]string
	}{
		{"a file", Act{Writes: []string{"a.txt"}}, [][]string{{"x(/a.txt)"}}},
		{"two files", Act{Reads: []string{"a"}, Writes: []string{"b/c", "a"}}, [][]string{{"x(/a)", "x(/b/c)"}}},
		{"a host", Act{Hosts: []string{"Example.com:443"}}, [][]string{{"x(domain:example.com)"}}},
		{"nothing that could be named", Act{}, nil},
		{"the whole workspace", Act{Trees: []string{"."}}, nil},
		{"a name that is a pattern", Act{Writes: []string{"a*"}}, nil},
		{"a name with a bracket", Act{Writes: []string{"a)"}}, nil},
		{"outside", Act{Writes: []string{"/etc/x"}}, nil},
		{"not resolved", Act{Writes: []string{"a"}, Unresolved: "b"}, nil},
		{"a host that is none", Act{Hosts: []string{"0x7f.1"}}, nil},
		{"many files", Act{Writes: []string{"a", "b", "c", "d", "e"}}, nil},
		{"not clear", Act{Command: "ls", Unclear: "what was typed before"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.act.Spec = spec
			if got := narrowRules(c.act); !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
