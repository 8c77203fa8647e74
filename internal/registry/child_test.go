package registry_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// bound is a tool that keeps a workspace of its own.
type bound struct {
	fake
	root string
	as   string // the name it takes elsewhere
	err  error
}

func (b bound) Rebind(root string) (tool.Tool, error) {
	if b.err != nil {
		return nil, b.err
	}
	b.root = root
	if b.as != "" {
		b.spec.Name = b.as
	}
	return b, nil
}

func TestChild(t *testing.T) {
	shared := &struct{ fake }{named("shared").(fake)}
	r := registry.New()
	for _, add := range []struct {
		tool tool.Tool
		opts registry.Options
	}{
		{shared, registry.Options{Source: "s", Background: true}},
		{bound{fake: named("bound").(fake), root: "/a"}, registry.Options{Background: true}},
		{named("internal"), registry.Options{Hidden: true}},
	} {
		if err := r.Add(add.tool, add.opts); err != nil {
			t.Fatal(err)
		}
	}
	child, err := r.Child("/b")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("tools are shared", func(t *testing.T) {
		e, _ := child.Entry("shared")
		if e.Tool != tool.Tool(shared) {
			t.Error("the child has another instance")
		}
	})
	t.Run("marks for the background are gone", func(t *testing.T) {
		for _, name := range []string{"shared", "bound"} {
			e, _ := child.Entry(name)
			if e.Background {
				t.Errorf("%s is marked: %+v", name, e.Options)
			}
			if e, _ := r.Entry(name); !e.Background {
				t.Errorf("the parent's %s lost its mark", name)
			}
		}
	})
	t.Run("what is hidden stays hidden", func(t *testing.T) {
		if e, _ := child.Entry("internal"); !e.Hidden {
			t.Error("it is not")
		}
	})
	t.Run("the source's name stays", func(t *testing.T) {
		if e, _ := child.Entry("shared"); e.Source != "s" {
			t.Errorf("the source is %q", e.Source)
		}
	})
	t.Run("rebound to the other root", func(t *testing.T) {
		e, _ := child.Entry("bound")
		if got := e.Tool.(bound).root; got != "/b" {
			t.Errorf("the root is %q", got)
		}
		if e, _ := r.Entry("bound"); e.Tool.(bound).root != "/a" {
			t.Error("the parent's tool was rebound")
		}
	})
	t.Run("no root, no rebinding", func(t *testing.T) {
		same, err := r.Child("")
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := same.Entry("bound"); e.Tool.(bound).root != "/a" {
			t.Error("it was rebound")
		}
	})
	t.Run("neither changes the other", func(t *testing.T) {
		if err := errors.Join(child.Add(named("own"), registry.Options{}), r.Add(named("late"), registry.Options{})); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"bound", "internal", "own", "shared"}, names(child)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"bound", "internal", "late", "shared"}, names(r)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestChildReportsEveryToolThatCannotMove(t *testing.T) {
	r := with(t,
		bound{fake: named("stuck").(fake), err: errors.New("it is glued down")},
		bound{fake: named("turncoat").(fake), as: "other"},
	)
	_, err := r.Child("/b")
	wantError(t, err, `"stuck"`, "glued down", `"turncoat"`, `calls itself "other"`)
}

func TestChildViewShowsNoMoreThanItsParent(t *testing.T) {
	r := with(t, named("read", effects(tool.Read)), named("shell", effects(tool.Exec)), named("web", effects(tool.Network)))
	parent := view(t, r, registry.ViewConfig{Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{"effect:exec"}})}})
	child, err := r.Child("")
	if err != nil {
		t.Fatal(err)
	}
	kid := view(t, child, registry.ViewConfig{Parent: parent})
	want := func(names ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, names...), shown(kid)); diff != "" {
			t.Errorf("the child shows (-want +got):\n%s", diff)
		}
	}
	want("read", "web")
	t.Run("the denial says what decided", func(t *testing.T) {
		_, err := kid.Resolve("shell")
		var denied *registry.DeniedError
		if err == nil || !errors.As(err, &denied) || denied.Decision.Entry != "effect:exec" {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a tool of the child's own is not the parent's", func(t *testing.T) {
		if err := child.Add(named("own"), registry.Options{}); err != nil {
			t.Fatal(err)
		}
		want("read", "web")
		if _, err := kid.Resolve("own"); err == nil || err.Code != tool.CodeUnknownTool {
			t.Errorf("error %v", err)
		}
	})
	t.Run("the parent's rules hold for the child's own form of a tool", func(t *testing.T) {
		if err := child.Replace(named("web", effects(tool.Network|tool.Exec)), registry.Options{}); err != nil {
			t.Fatal(err)
		}
		want("read")
	})
	t.Run("and so do those of the parent's parent", func(t *testing.T) {
		top := view(t, r, registry.ViewConfig{Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{"effect:message"}})}})
		middle := view(t, r, registry.ViewConfig{Parent: top})
		own := with(t, named("read", effects(tool.Message)))
		if _, err := view(t, own, registry.ViewConfig{Parent: middle}).Resolve("read"); err == nil || err.Code != tool.CodeDenied {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a name that is an alias to the parent is another tool", func(t *testing.T) {
		above := view(t, with(t, named("terminal", aliases("bash"))), registry.ViewConfig{})
		if _, err := view(t, with(t, named("bash")), registry.ViewConfig{Parent: above}).Resolve("bash"); err == nil {
			t.Error("it can be called")
		}
	})
	t.Run("a parent that is narrowed narrows the child", func(t *testing.T) {
		parent.Restrict(compile(t, r, policy.Config{Deny: []string{"read"}}))
		want()
	})
	t.Run("a tool that the parent loses is lost to the child", func(t *testing.T) {
		parent := view(t, r, registry.ViewConfig{})
		kid := view(t, child, registry.ViewConfig{Parent: parent})
		if _, err := kid.Resolve("read"); err != nil {
			t.Fatal(err)
		}
		r.Remove("read")
		if _, err := kid.Resolve("read"); err == nil {
			t.Error("it can still be called")
		}
	})
}
