package history

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/workspace"
)

func stepWrite(name, data string) workspace.Step {
	return workspace.Step{Op: workspace.OpWrite, Name: name, Data: []byte(data)}
}

func stepLink(name, target string) workspace.Step {
	return workspace.Step{Op: workspace.OpWrite, Name: name, Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

func stepRemove(name string) workspace.Step {
	return workspace.Step{Op: workspace.OpRemove, Name: name}
}

func stepMove(from, to string) workspace.Step {
	return workspace.Step{Op: workspace.OpMove, Name: from, To: to, Overwrite: true}
}

func stepDir(name string) workspace.Step {
	return workspace.Step{Op: workspace.OpMakeDir, Name: name}
}

// Chains of changes that use the same names for different things go back to
// the very beginning, all at once and one after the other.
func TestChainsOfTheSameNames(t *testing.T) {
	type change = []workspace.Step
	for name, chain := range map[string][]change{
		"written and moved by one change":         {{stepWrite("x", "1"), stepMove("x", "y")}},
		"written, moved, written":                 {{stepWrite("x", "1"), stepMove("x", "y"), stepWrite("x", "2")}},
		"a link's place is written and moved":     {{stepLink("x", "t")}, {stepRemove("x"), stepWrite("x", "1"), stepMove("x", "y")}},
		"a file takes the place that was left":    {{stepWrite("a", "1"), stepWrite("x", "2")}, {stepMove("a", "b")}, {stepMove("x", "a")}},
		"a folder takes the place of a file":      {{stepWrite("a", "1"), stepWrite("c/d/e", "1")}, {stepMove("a", "b")}, {stepMove("c/d", "a")}},
		"a file, a folder and a file":             {{stepWrite("a", "1")}, {stepRemove("a")}, {stepWrite("a/x", "1")}, {stepRemove("a/x")}, {stepRemove("a")}, {stepWrite("a", "3")}},
		"a folder moves over and over":            {{stepWrite("a/x", "1")}, {stepMove("a", "b")}, {stepWrite("a/x", "2")}, {stepMove("b", "c/d")}, {stepWrite("b", "3")}, {stepWrite("c/d/x", "4")}},
		"a folder comes back where a link is now": {{stepDir("c")}, {stepMove("c", "d")}, {stepWrite("t/x", "1"), stepLink("c", "t")}, {stepWrite("c/y", "2")}},
		"what a folder had at its other place":    {{stepWrite("a/x", "1")}, {stepMove("a", "b/x")}, {stepLink("a/x", "c")}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{}, nil)
			trees := []map[string]string{b.tree()}
			var ids []string
			for _, c := range chain {
				b.apply(c...)
				trees, ids = append(trees, b.tree()), append(ids, b.newest().ID)
			}
			b.undo(UndoOptions{ID: ids[0], Since: true})
			b.wantTree(trees[0])
			for _, c := range chain {
				b.apply(c...)
			}
			for i := len(chain) - 1; i >= 0; i-- {
				b.undo(UndoOptions{})
				b.wantTree(trees[i])
			}
		})
	}
}

// A chance is one random chain of changes.
type chance struct {
	*bench
	rand  *rand.Rand
	trees []map[string]string
	ids   []string
	log   strings.Builder
}

func (c *chance) change() {
	names := []string{"a", "b", "a/x", "b/x", "c", "c/d", "c/d/e"}
	pick := func() string { return names[c.rand.IntN(len(names))] }
	var steps []workspace.Step
	for range 1 + c.rand.IntN(3) {
		steps = append(steps, []workspace.Step{
			stepWrite(pick(), fmt.Sprint(c.rand.IntN(5), "\n")), stepWrite(pick(), ""), stepRemove(pick()),
			stepMove(pick(), pick()), stepDir(pick()), stepLink(pick(), "a"),
		}[c.rand.IntN(6)])
	}
	// Most of it is impossible, and then nothing is changed.
	if _, err := c.w.Apply(c.call(), steps); err != nil || len(c.list()) == len(c.ids) {
		return
	}
	c.trees, c.ids = append(c.trees, c.tree()), append(c.ids, c.newest().ID)
	for _, s := range steps {
		fmt.Fprintf(&c.log, "%d %s %s %q %v; ", s.Op, s.Name, s.To, s.Data, s.Mode)
	}
	c.log.WriteString("\n")
}

// back undoes, and wants one of the trees. It reports whether there was one:
// a folder does not take the place of what the same undo takes away.
func (c *chance) back(o UndoOptions, tree int) bool {
	c.t.Helper()
	now := c.tree()
	_, err := c.line.Undo(c.call(), c.w, o)
	want := c.trees[tree]
	if errors.Is(err, workspace.ErrConflict) {
		want = now
	} else if err != nil {
		c.t.Fatalf("%v\n%s%v", err, c.log.String(), now)
	}
	if d := cmp.Diff(want, c.tree()); d != "" {
		c.t.Fatalf("%+v (-want +got):\n%s%s", o, c.log.String(), d)
	}
	return err == nil
}

func TestRandomChainsGoBack(t *testing.T) {
	went := 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := &chance{bench: newBench(t, Options{}, nil), rand: rand.New(rand.NewPCG(seed, 1))}
			c.trees = append(c.trees, c.tree())
			for range 15 {
				c.change()
			}
			if len(c.ids) == 0 {
				return
			}
			if seed%2 == 0 && c.back(UndoOptions{ID: c.ids[0], Since: true}, 0) {
				went++
				return
			}
			for i := len(c.ids) - 1; i >= 0; i-- {
				if !c.back(UndoOptions{ID: c.ids[i]}, i) {
					return
				}
				if c.rand.IntN(4) == 0 && (!c.back(UndoOptions{ID: c.newest().ID}, i+1) || !c.back(UndoOptions{ID: c.newest().ID}, i)) {
					return
				}
				went++
			}
		})
	}
	if went < 100 {
		t.Errorf("only %d undos went through", went)
	}
}

// byHand changes something behind the history's back, and returns what must
// not be lost.
func (c *chance) byHand(i int) string {
	token := fmt.Sprintf("hand-%d\n", i)
	files := c.files()
	at := filepath.Join(c.dir, fmt.Sprint("by-hand-", i))
	if len(files) > 0 {
		at = files[c.rand.IntN(len(files))]
	}
	old, err := os.ReadFile(at)
	content := token
	if err == nil && c.rand.IntN(2) == 0 {
		content = string(old) + token
	}
	if c.rand.IntN(3) == 0 {
		at = filepath.Join(filepath.Dir(at), []string{"x", "d", "y"}[c.rand.IntN(3)])
		if _, err := os.Lstat(at); err == nil {
			return ""
		}
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		return ""
	}
	return token
}

func (c *chance) files() []string {
	var out []string
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// Whatever an undo does or refuses, what was changed by hand is still there,
// and a refusal has changed nothing.
func TestRandomEditsByHandSurvive(t *testing.T) {
	went, refused := 0, 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := &chance{bench: newBench(t, Options{}, nil), rand: rand.New(rand.NewPCG(seed, 2))}
			for range 15 {
				c.change()
			}
			var tokens []string
			for i := range 4 {
				if token := c.byHand(i); token != "" {
					tokens = append(tokens, token)
				}
				all := strings.Join(slices.Collect(maps.Values(c.tree())), "\n")
				tokens = slices.DeleteFunc(tokens, func(s string) bool { return !strings.Contains(all, s) })
				if len(c.ids) == 0 {
					return
				}
				before := c.tree()
				r, err := c.line.Undo(c.call(), c.w, UndoOptions{ID: c.ids[c.rand.IntN(len(c.ids))], Since: c.rand.IntN(3) == 0})
				after := c.tree()
				if err != nil {
					if refused++; !cmp.Equal(before, after) {
						t.Errorf("refused, and changed: %v\n%s", err, cmp.Diff(before, after))
					}
					continue
				}
				went++
				all = strings.Join(slices.Collect(maps.Values(after)), "\n")
				for _, token := range tokens {
					if !strings.Contains(all, token) {
						t.Errorf("%q is lost:\n%s%v\n%v\n%+v", token, c.log.String(), before, after, r.Files)
					}
				}
				did := slices.ContainsFunc(r.Files, func(f UndoneFile) bool { return f.What != UndoAlready })
				if did == cmp.Equal(before, after) || did != (len(r.Changed) > 0) || did != (r.Diff != "") {
					t.Errorf("it says %+v, %s and %q, and the tree differs by %s", r.Files, r.Changed, r.Diff, cmp.Diff(before, after))
				}
				for name := range differing(before, after) {
					if !slices.ContainsFunc(r.Changed, func(p string) bool {
						return name == p || strings.HasPrefix(name, p+"/") || strings.HasPrefix(p, name+"/")
					}) {
						t.Errorf("%s changed, and only %s is said", name, r.Changed)
					}
				}
			}
		})
	}
	if went < 50 || refused < 10 {
		t.Errorf("%d went, %d were refused", went, refused)
	}
}

// differing returns the paths at which two trees differ.
func differing(a, b map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			if a[name] != b[name] {
				out[name] = true
			}
		}
	}
	return out
}
