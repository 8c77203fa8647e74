package handrail_test

import (
	"context"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// TestPolicyAndCommands: who denies an effect wants nothing to have it. A
// command that its fence keeps from it stays; one that could have it goes.
func TestPolicyAndCommands(t *testing.T) {
	offline := handrail.Policy{Deny: []string{"effect:network"}}
	on := handrail.CommandOptions{Network: handrail.NetworkOn}
	for _, c := range []struct {
		name    string
		options handrail.Options
		has     bool
	}{
		{"no network behind the fence", handrail.Options{Policy: offline}, true},
		{"none, in words of what is allowed", handrail.Options{Policy: handrail.Policy{Allow: []string{"effect:read", "effect:write", "effect:exec"}}}, true},
		{"off", handrail.Options{Policy: offline, Commands: handrail.CommandOptions{Network: handrail.NetworkOff}}, true},
		{"of one provider", handrail.Options{PolicyByProvider: map[string]handrail.Policy{"small": offline}, Provider: "small"}, true},
		{"for a model family", handrail.Options{Policy: offline, Surface: "claude"}, true},
		{"the network is open", handrail.Options{Policy: offline, Commands: on}, false},
		{"some hosts are", handrail.Options{Policy: offline, Commands: handrail.CommandOptions{AllowHosts: []string{"example.com"}}}, false},
		{"no fence", handrail.Options{Policy: offline, Commands: handrail.CommandOptions{Fence: handrail.FenceNone}}, false},
		{"full access", handrail.Options{Policy: offline, Permission: handrail.Permission{Mode: handrail.FullAccess}}, false},
		{"by its name", handrail.Options{Policy: handrail.Policy{Deny: []string{"effect:network", "shell"}}}, false},
		{"every program", handrail.Options{Policy: handrail.Policy{Deny: []string{"effect:exec"}}}, false},
		{"writing, where the fence lets it write", handrail.Options{Policy: handrail.Policy{Deny: []string{"effect:write"}}}, false},
		{"writing, where it does not", handrail.Options{Policy: handrail.Policy{Deny: []string{"effect:write"}}, Permission: handrail.Permission{Mode: handrail.ReadOnly}, Approver: yes}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withCommands(t, c.options)
			r := order(t, s, "bash", obj{"command": "echo $((6*7))"})
			if got := r.OK && strings.Contains(r.Text, "42"); got != c.has {
				t.Errorf("%v, want %v: %q %s", got, c.has, r.Code, r.Text)
			}
			listed := strings.Contains(string(s.SpecsJSON()), `"write_stdin"`) || strings.Contains(string(s.SpecsJSON()), `"BashOutput"`)
			if c.options.Surface == "" && c.name != "by its name" && listed != c.has {
				t.Errorf("write_stdin is listed: %v, want %v", listed, c.has)
			}
		})
	}
}

// TestPolicyAndUnfenced: where the fence is why a command is admitted, none
// leaves it, whoever would agree, in a child neither.
func TestPolicyAndUnfenced(t *testing.T) {
	asked := 0
	s := withCommands(t, handrail.Options{
		Policy: handrail.Policy{Deny: []string{"effect:network"}}, Approver: func(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			asked++
			return yes(ctx, r)
		},
	})
	child, err := s.Child(context.Background(), handrail.ChildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range []*handrail.Session{s, child} {
		for name, args := range map[string]obj{"shell": {"command": "true"}, "exec_command": {"cmd": "true"}} {
			args["unfenced"], args["justification"] = true, "a test"
			if r := order(t, session, name, args); r.Code != tool.CodeDenied || asked != 0 {
				t.Errorf("%s, asked %d times: %q %s", name, asked, r.Code, r.Text)
			}
		}
		if r := order(t, session, "shell", obj{"command": "echo in"}); !r.OK {
			t.Errorf("%s", r.Text)
		}
		for _, spec := range session.Specs() {
			if spec.Effects != 0 && spec.Effects&tool.Network != 0 {
				t.Errorf("%s declares %s", spec.Name, spec.Effects)
			}
		}
	}
	t.Run("a child that alone may not", func(t *testing.T) {
		parent := withCommands(t, handrail.Options{Approver: yes})
		child, err := parent.Child(context.Background(), handrail.ChildOptions{Policy: handrail.Policy{Deny: []string{"effect:network"}}})
		if err != nil {
			t.Fatal(err)
		}
		free := obj{"command": "echo out", "unfenced": true, "justification": "a test"}
		if r := order(t, child, "shell", free); r.Code != tool.CodeDenied {
			t.Errorf("%q %s", r.Code, r.Text)
		}
		if r := order(t, child, "shell", obj{"command": "echo in"}); !r.OK {
			t.Errorf("%s", r.Text)
		}
		if r := order(t, parent, "shell", free); !r.OK {
			t.Errorf("the parent's was taken too: %s", r.Text)
		}
	})
}
