package shellparse

import "testing"

func TestContains(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"git *", "git push:*", true}, {"git:*", "git", true}, {"git", "git:*", false}, {"git push:*", "git *", false},
		{"*", "git push", true}, {"git *", "gitx", false}, {"git push:*", "git push origin", true}, {"git push:*", "git pushx", false},
		{"git * main", "git push main", true}, {"git * main", "git * main", true}, {"git * main", "git:*", false},
		{"npm run *", "npm run test*", true}, {"npm run test*", "npm run *", false}, {"git commit -m 'a b'", "git commit -m a b", false},
		{"/usr/bin/git:*", "git:*", false}, {":*", "rm:*", true},
	} {
		a, err := ParsePattern(c.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParsePattern(c.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Contains(b, false); got != c.want {
			t.Errorf("%q contains %q: %v", c.a, c.b, got)
		}
		if c.want {
			if _, hit := NewSet(a).Hit(Parse(b.Example())); !hit {
				t.Errorf("%q does not hit %q, an example of %q", c.a, b.Example(), c.b)
			}
		}
	}
	path, _ := ParsePattern("/usr/bin/git:*")
	bare, _ := ParsePattern("git:*")
	if !path.Contains(bare, true) {
		t.Error("a rule that refuses goes by the name of the program")
	}
}

func TestExample(t *testing.T) {
	for pattern, want := range map[string]string{"git push:*": "git push", "npm run *": "npm run", "a *b c": "a xb c", "echo 'a  b'": "echo 'a  b'", "*": "x"} {
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Example(); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}
