package registry_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

func TestL30_EveryAliasIsCovered(t *testing.T) {
	r := with(t, named("shell", aliases("bash", "exec_command"), effects(tool.Exec)), named("read_file"))
	for _, entry := range []string{"shell", "bash", "exec_command", "group:runtime", "ba*", "effect:exec"} {
		t.Run(entry, func(t *testing.T) {
			v := view(t, r, registry.ViewConfig{Policies: []*policy.Policy{compile(t, r, policy.Config{Deny: []string{entry}})}})
			for _, name := range []string{"shell", "bash", "exec_command"} {
				_, err := v.Resolve(name)
				if err == nil {
					t.Fatalf("%s can be called", name)
				}
				var denied *registry.DeniedError
				if err.Code != tool.CodeDenied || !errors.As(err, &denied) || denied.Decision.Entry != entry {
					t.Errorf("%s: %s: %v", name, err.Code, err)
				}
			}
		})
	}
}

func TestL19_ListIsSortedAndStable(t *testing.T) {
	a := view(t, with(t, named("c"), named("a"), named("b")), registry.ViewConfig{})
	b := view(t, with(t, named("b"), named("c"), named("a")), registry.ViewConfig{})
	if diff := cmp.Diff([]string{"a", "b", "c"}, shown(a)); diff != "" {
		t.Error(diff)
	}
	if string(a.JSON()) != string(b.JSON()) {
		t.Errorf("the same tools give different bytes:\n%s\n%s", a.JSON(), b.JSON())
	}
}
