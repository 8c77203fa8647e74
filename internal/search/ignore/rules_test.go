package ignore

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestNoRules(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# a\n#b", "[x\n", "/", "!", "foo\\\n", "   \n"} {
		if r := Parse([]byte(text)); r != nil {
			t.Errorf("Parse(%q) has rules, want nil", text)
		}
	}
	var none *Level
	if v := none.Match([]byte("a"), false); v != None {
		t.Errorf("a nil level says %v, want None", v)
	}
}

// The kinds in the order of their strength; each case gives the files of two
// folders, "" and "d", and asks for d/x.
func TestKindsAndRepositories(t *testing.T) {
	drop, keep := Parse([]byte("x\n")), Parse([]byte("!x\n"))
	type set map[Kind]*Rules
	tests := []struct {
		name     string
		top, sub set
		repo     bool // whether d holds a .git
		want     Verdict
	}{
		{"nothing", nil, nil, false, None},
		{"the nearer folder decides", set{Git: drop}, set{Git: keep}, false, Keep},
		{"a stronger kind beats a nearer folder", set{Plain: drop}, set{Git: keep}, false, Drop},
		{".rgignore beats .ignore", set{Plain: drop, Ripgrep: keep}, nil, false, Keep},
		{".gitignore beats exclude", set{Git: keep, Exclude: drop}, nil, false, Keep},
		{"exclude alone", set{Exclude: drop}, nil, false, Drop},
		{"git rules end at a repository", set{Git: drop, Exclude: drop}, nil, true, None},
		{"rules of the repository itself hold", set{Git: keep}, set{Git: drop}, true, Drop},
		{".ignore goes on into a repository", set{Plain: drop, Git: keep}, nil, true, Drop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := func(s set) (f Files) {
				for k, r := range s {
					f.Rules[k] = r
				}
				return f
			}
			sub := files(tt.sub)
			sub.Repository = tt.repo
			var level *Level
			level = level.Enter("", files(tt.top)).Enter("d", sub)
			if got := level.Match([]byte("d/x"), false); got != tt.want {
				t.Errorf("Match = %v, want %v", got, tt.want)
			}
		})
	}
}

// A glob that makes a careless matcher take ages.
func TestNoBlowUp(t *testing.T) {
	r := Parse([]byte(strings.Repeat("*a", 200) + "b\n/" + strings.Repeat("**/a/", 200) + "b\n"))
	path := []byte(strings.Repeat("a/", 300) + strings.Repeat("a", 200) + "c")
	start := time.Now()
	if v := r.Match(path, false); v != None {
		t.Fatalf("Match = %v, want None", v)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzRules(f *testing.F) {
	for _, c := range nasty {
		f.Add(c.rules[""], c.paths[0], false)
	}
	f.Add("**/a[[:x", "a/\xff", true)
	f.Fuzz(func(t *testing.T, text, path string, dir bool) {
		r := Parse([]byte(text))
		got := r.Match([]byte(path), dir)
		// The maps are only a shortcut: the last rule that matches on its
		// own is the one that decides.
		want := None
		if r != nil {
			for i := range r.rules {
				one := &r.rules[i]
				base := path[strings.LastIndexByte(path, '/')+1:]
				if (dir || !one.dirOnly) && one.match([]byte(path), []byte(base)) {
					want = one.verdict
				}
			}
		}
		if got != want {
			t.Errorf("rules %q, path %q: got %v, one by one %v", text, path, got, want)
		}
		// A rule for folders only says nothing of a file.
		if !dir {
			var b strings.Builder
			for line := range strings.SplitSeq(text, "\n") {
				if strings.HasSuffix(strings.TrimRight(line, " \r"), "/") {
					continue
				}
				b.WriteString(line + "\n")
			}
			if again := Parse([]byte(b.String())).Match([]byte(path), false); again != got && !strings.ContainsAny(text, "\x00\\") {
				t.Errorf("rules %q, path %q: got %v, without folder rules %v", text, path, got, again)
			}
		}
	})
}

func BenchmarkLevelMatch(b *testing.B) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "name%d\n*.ext%d\n/top%d/\n", i, i, i)
	}
	var level *Level
	var f Files
	f.Rules[Git] = Parse([]byte(text.String()))
	level = level.Enter("", f)
	path := []byte("internal/some/folder/file_test.go")
	b.ReportAllocs()
	for b.Loop() {
		if level.Match(path, false) != None {
			b.Fatal("matched")
		}
	}
}
