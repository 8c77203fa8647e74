package registry_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
)

// connection notes when it is closed.
type connection struct {
	name string
	log  *[]string
	err  error
}

func (c connection) Close() error {
	*c.log = append(*c.log, c.name)
	return c.err
}

func TestL23_SourcesOutliveTheirTools(t *testing.T) {
	var closed []string
	r := registry.New()
	if err := r.AddSource("mcp:x", connection{name: "x", log: &closed}); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(named("mcp__x__a"), registry.Options{Source: "mcp:x"}); err != nil {
		t.Fatal(err)
	}
	v := view(t, r, registry.ViewConfig{})
	v.Restrict(nil)
	if len(v.Specs()) != 0 {
		t.Fatal("the tool is still seen")
	}
	if _, err := r.Prune(compile(t, r, policy.Config{Deny: []string{"mcp__*"}})); err != nil {
		t.Fatal(err)
	}
	child, err := r.Child("")
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Close(); err != nil {
		t.Fatal(err)
	}
	if len(closed) != 0 {
		t.Fatalf("closed %q while only visibility changed", closed)
	}
	if diff := cmp.Diff([]string{"mcp:x"}, r.Sources()); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x"}, closed); diff != "" {
		t.Errorf("closing (-want +got):\n%s", diff)
	}
}

func TestRemoveSource(t *testing.T) {
	var closed []string
	r := with(t, named("builtin"))
	for _, id := range []string{"a", "b"} {
		if err := r.AddSource(id, connection{name: id, log: &closed}); err != nil {
			t.Fatal(err)
		}
		if err := r.Add(named(id+"_tool"), registry.Options{Source: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.RemoveSource("a"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b_tool", "builtin"}, names(r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, closed); diff != "" {
		t.Error(diff)
	}
	wantError(t, r.RemoveSource("a"), "none of that id")
}

func TestAddSourceErrors(t *testing.T) {
	var closed []string
	c := connection{name: "c", log: &closed}
	r := registry.New()
	wantError(t, r.AddSource("", c), "no id")
	wantError(t, r.AddSource("x", nil), "no connection")
	if err := r.AddSource("x", c); err != nil {
		t.Fatal(err)
	}
	wantError(t, r.AddSource("x", c), "one of that id")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{r.AddSource("y", c), r.Add(named("t"), registry.Options{}), r.Replace(named("t"), registry.Options{})} {
		if !errors.Is(err, registry.ErrClosed) {
			t.Errorf("after closing: %v", err)
		}
	}
	if len(closed) != 1 {
		t.Errorf("closed %q", closed)
	}
}

func TestCloseClosesAllInReverse(t *testing.T) {
	var closed []string
	r := registry.New()
	for _, id := range []string{"one", "two", "three"} {
		c := connection{name: id, log: &closed}
		if id != "one" {
			c.err = errors.New(id + " is stuck")
		}
		if err := r.AddSource(id, c); err != nil {
			t.Fatal(err)
		}
	}
	err := r.Close()
	wantError(t, err, `closing the source "two": two is stuck`, `closing the source "three"`)
	if !slices.Equal(closed, strings.Fields("three two one")) {
		t.Errorf("closed %q", closed)
	}
}
