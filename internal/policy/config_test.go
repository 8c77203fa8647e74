package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/policy"
)

func TestConfigJSON(t *testing.T) {
	for _, c := range []struct {
		text string
		want policy.Config
	}{
		{`{}`, policy.Config{}},
		{`{"allow":null}`, policy.Config{}},
		{`{"allow":[]}`, policy.Config{Allow: []string{}}},
		{`{"deny":["a"],"require_tags":["t"],"shell_writes":"warn"}`,
			policy.Config{Deny: []string{"a"}, RequireTags: []string{"t"}, ShellWrites: policy.ShellWritesWarn}},
		{`{"shell_writes":""}`, policy.Config{ShellWrites: policy.ShellWritesAllow}},
	} {
		t.Run(c.text, func(t *testing.T) {
			var got policy.Config
			if err := json.Unmarshal([]byte(c.text), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			again, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var back policy.Config
			if err := json.Unmarshal(again, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, back); diff != "" {
				t.Errorf("writing and reading changed it through %s (-want +got):\n%s", again, diff)
			}
		})
	}
}

func TestConfigJSONIsStrict(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`{"alow":["a"],"denny":[]}`, []string{`did you mean "allow"?`, `did you mean "deny"?`}},
		{`{"Deny":["a"]}`, []string{`did you mean "deny"?`}},
		{`{"deny":["shell"],"deny":[]}`, []string{`"deny" is given twice`}},
		{`{"deny":"shell"}`, []string{"deny: "}},
		{`{"deny":[null]}`, []string{"entry 1 is null"}},
		{`{"deny":[1]}`, []string{"deny: "}},
		{`{"shell_writes":"maybe"}`, []string{"allow, warn or deny"}},
		{`{"shell_writes":true}`, []string{"shell_writes"}},
		{`[]`, []string{"a policy is an object"}},
		{`"deny"`, []string{"a policy is an object"}},
		{`{"zzz":1}`, []string{`unknown policy key "zzz"`, "allow, deny, require_tags, shell_writes"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := policy.Config{Deny: []string{"before"}}
			err := json.Unmarshal([]byte(c.text), &got)
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
			if diff := cmp.Diff(policy.Config{Deny: []string{"before"}}, got); diff != "" {
				t.Errorf("a config that is refused changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForProvider(t *testing.T) {
	policies := map[string]policy.Config{
		"claude-x":  {Deny: []string{"model"}},
		"anthropic": {Deny: []string{"provider"}},
		"":          {Deny: []string{"nobody"}},
	}
	for _, c := range []struct{ name, model, provider, want string }{
		{"the exact model first", "claude-x", "anthropic", "model"},
		{"then the provider", "claude-y", "anthropic", "provider"},
		{"a part of the model's id is not it", "claude", "other", ""},
		{"models and providers share the keys", "anthropic", "other", "provider"},
		{"unknown", "gpt", "openai", ""},
		{"nothing known of the model", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := policy.ForProvider(policies, c.model, c.provider)
			if ok != (c.want != "") || ok && got.Deny[0] != c.want {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
}

func TestShellWrites(t *testing.T) {
	for text, want := range map[policy.ShellWrites]policy.ShellWrites{
		"": policy.ShellWritesAllow, "allow": policy.ShellWritesAllow, "warn": policy.ShellWritesWarn, "deny": policy.ShellWritesDeny,
	} {
		if got := mustCompile(t, policy.Config{ShellWrites: text}).ShellWrites(); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if _, err := policy.Compile(policy.Config{ShellWrites: "Deny"}, nil, nil); err == nil {
		t.Error("a value in another case was taken")
	}
}
