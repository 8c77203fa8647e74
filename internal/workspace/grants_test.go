package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/tool"
)

func TestBadGrants(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{
		"", "/a", "a//b", "a/", "/", ".", "..", "a/../b", "./a", "a/.", "**", "a/**", "a**b", "a(b", "a)b", `a\b`, `a"b`, "a:b", "a[b]", "a]", "{a}", "a}", "a\x00b", "a\nb", "a\x7f",
	} {
		if w, err := Open(dir, Options{Grants: &Grants{Patterns: []string{"ok", p}}}); err == nil {
			_ = w.Close()
			t.Errorf("%q is taken", p)
		}
	}
	for _, g := range []*Grants{{Dir: "relative"}, {Dir: dir + "/missing"}, {Patterns: []string{"ok"}, Above: &Grants{Patterns: []string{"**"}}}} {
		if w, err := Open(dir, Options{Grants: g}); err == nil {
			_ = w.Close()
			t.Errorf("%+v is taken", g)
		}
	}
	_, err := Open(dir, Options{Grants: &Grants{Patterns: []string{"", "/a", "**"}}})
	if n := strings.Count(err.Error(), `write grant "`); n != 3 {
		t.Errorf("%d of 3 problems are named: %v", n, err)
	}
}

// TestL39_G7_GrantsBindEveryOperation: G7 (octos) had operations that the
// fence did not bind.
func TestL39_G7_GrantsBindEveryOperation(t *testing.T) {
	tests := []struct {
		name   string
		grants Grants
		step   Step
		ok     bool
	}{
		{"written", Grants{Patterns: []string{"a"}}, write("a", "1"), true},
		{"another", Grants{Patterns: []string{"a"}}, write("b", "1"), false},
		{"an empty list", Grants{Patterns: []string{}}, write("a", "1"), false},
		{"no list", Grants{}, write("a", "1"), true},
		{"through a link to what is granted", Grants{Patterns: []string{"a"}}, write("l", "1"), true},
		{"through a link whose name is granted", Grants{Patterns: []string{"l"}}, write("l", "1"), false},
		{"a star", Grants{Patterns: []string{"d/*"}}, write("d/new", "1"), true},
		{"a star is one element", Grants{Patterns: []string{"d/*"}}, write("d/s/new", "1"), false},
		{"a star is not less than one", Grants{Patterns: []string{"d/*/y"}}, write("d/y", "1"), false},
		{"a mark", Grants{Patterns: []string{"?"}}, write("b", "1"), true},
		{"a mark is one character", Grants{Patterns: []string{"?"}}, write("bb", "1"), false},
		{"the case counts", Grants{Patterns: []string{"A"}}, write("a", "1"), false},
		{"folders on the way", Grants{Patterns: []string{"n/*/f"}}, write("n/m/f", "1"), true},
		{"made on the way", Grants{Patterns: []string{"n/*/f"}}, mkdir("n/m"), true},
		{"made elsewhere", Grants{Patterns: []string{"n/*/f"}}, mkdir("m"), false},
		{"made where a file is granted", Grants{Patterns: []string{"n"}}, mkdir("n/m"), false},
		{"removed", Grants{Patterns: []string{"d/*"}}, rm("d/x"), true},
		{"removed elsewhere", Grants{Patterns: []string{"d/*"}}, rm("a"), false},
		{"the folder of what is granted is removed", Grants{Patterns: []string{"e/*"}}, rm("e"), false},
		{"moved within", Grants{Patterns: []string{"d/*"}}, mv("d/x", "d/z"), true},
		{"moved out", Grants{Patterns: []string{"d/*"}}, mv("d/x", "z"), false},
		{"moved in", Grants{Patterns: []string{"d/*"}}, mv("a", "d/a"), false},
		{"a folder that is not granted whole", Grants{Patterns: []string{"d", "d/x", "z", "z/*", "z/*/*"}}, mv("d", "z"), false},
		{"a folder that is", Grants{Patterns: []string{"d", "d/*", "d/*/*", "z", "z/*", "z/*/*"}}, mv("d", "z"), true},
		{"a protected path", Grants{Patterns: []string{".git/*"}}, write(".git/config", ""), false},
		{"create only", Grants{CreateOnly: true}, write("new", "1"), true},
		{"create only makes folders", Grants{CreateOnly: true}, mkdir("n/m"), true},
		{"create only leaves a file", Grants{CreateOnly: true}, write("a", "1"), false},
		{"create only removes nothing", Grants{CreateOnly: true}, rm("a"), false},
		{"create only removes no folder", Grants{CreateOnly: true}, rm("e"), false},
		{"create only moves nothing", Grants{CreateOnly: true}, mv("a", "c"), false},
		{"L33 the fence above refuses", Grants{Patterns: []string{"a", "b"}, Above: &Grants{Patterns: []string{"b"}}}, write("a", "1"), false},
		{"L33 the fence above agrees", Grants{Patterns: []string{"a", "b"}, Above: &Grants{Patterns: []string{"b"}}}, write("b", "1"), true},
		{"L33 create only above", Grants{Patterns: []string{"a"}, Above: &Grants{CreateOnly: true}}, write("a", "1"), false},
		{"a further folder", Grants{Patterns: []string{"*"}}, write("../further/f", "1"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
				lay(t, dir, before)
				further := filepath.Join(filepath.Dir(dir), "further")
				if err := os.Mkdir(further, 0o755); err != nil {
					t.Fatal(err)
				}
				step := tt.step
				if rest, ok := strings.CutPrefix(step.Name, "../further"); ok {
					step.Name = further + rest
				}
				w, ctx := open(Options{Grants: &tt.grants, Granted: []string{further}}), context.Background()
				_, err := w.Apply(ctx, []Step{step})
				if tt.ok {
					if err != nil {
						t.Error(err)
					}
					return
				}
				var e *tool.Error
				if err == nil || !errors.As(err, &e) || e.Code != tool.CodeDenied {
					t.Errorf("error %v", err)
				}
				if diff := cmp.Diff(with(nil), snapshot(t, dir)); diff != "" {
					t.Error(diff)
				}
				if step.Op != OpWrite {
					return
				}
				if _, err := w.WriteFile(ctx, step.Name, nil, WriteOptions{}); err == nil {
					t.Error("WriteFile writes it")
				}
				if _, err := w.Edit(ctx, step.Name, func(File) ([]byte, error) { return []byte("new"), nil }); err == nil {
					t.Error("Edit edits it")
				}
			})
		})
	}
}

// TestGrantsOfAFolderAbove: the patterns of a fence are relative to the
// folder that it was given for.
func TestGrantsOfAFolderAbove(t *testing.T) {
	eachEngine(t, func(t *testing.T, dir string, open func(Options) *Workspace) {
		lay(t, filepath.Dir(dir), map[string]string{"ws/sub/f": "f", "other/f": "f"})
		base := filepath.Dir(dir)
		w := open(Options{Grants: &Grants{Patterns: []string{"sub/*", "f"}, Above: &Grants{Patterns: []string{"ws/sub/?", "ws/f"}, Dir: base}}})
		for name, ok := range map[string]bool{"sub/g": true, "sub/long": false, "f": true, "g": false} {
			if _, err := w.WriteFile(context.Background(), name, nil, WriteOptions{}); (err == nil) != ok || !ok && !errors.Is(err, ErrNotGranted) {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := w.WriteFile(context.Background(), "g", nil, WriteOptions{})
		if !strings.Contains(err.Error(), "may write only sub/*, f") {
			t.Errorf("the refusal does not say what may be written: %v", err)
		}
	})
}

func FuzzGrants(f *testing.F) {
	for _, p := range []string{"a", "a/*", "*/?", "a*b/c", "ä/*", "a/**", ""} {
		f.Add(p, "a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, rel string) {
		if checkGrant(pattern) != nil || !simple(rel) {
			return
		}
		fe := fence{patterns: [][]string{strings.Split(pattern, "/")}}
		covered := fe.covers(rel, false)
		if covered && strings.Count(pattern, "/") != strings.Count(rel, "/") {
			t.Errorf("%q covers %q, which has another depth", pattern, rel)
		}
		if !strings.ContainsAny(pattern, "*?") && covered != (pattern == rel) {
			t.Errorf("%q covers %q: %v", pattern, rel, covered)
		}
		if covered && !fe.covers(rel, true) {
			t.Errorf("%q covers %q as a file and not as a folder", pattern, rel)
		}
	})
}
