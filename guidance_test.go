package handrail_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/guidance"
	"github.com/handrail-tools/handrail/tool"
	"pgregory.net/rapid"
)

// usualCalls are calls of which no rule in these tests says anything by path.
var usualCalls = map[string]string{
	"read_file": `{"path":"usual"}`, "write_file": `{"path":"usual","content":"x"}`, "edit_file": `{"path":"usual","old_string":"a","new_string":"b"}`,
	"glob": `{"pattern":"*"}`, "grep": `{"pattern":"x","path":"usual-dir"}`, "list_dir": `{"path":"usual-dir"}`, "delete_file": `{"path":"usual"}`,
	"make_dir": `{"path":"usual2"}`, "move_file": `{"from":"usual","to":"usual3"}`, "view_image": `{"path":"usual"}`, "update_plan": `{"plan":[{"step":"x","status":"pending"}]}`,
	"recall": `{"id":"r_aaaaaaaaaaaa"}`, "workspace_log": `{}`,
	"apply_patch": `{"patch":"*** Begin Patch\n*** Add File: usual4\n+x\n*** End Patch"}`,
	"shell":       `{"command":"./usual --x"}`, "exec_command": `{"cmd":"./usual --x"}`, "run_code": `{"language":"sh","code":"./usual --x"}`,
	"pure": `{}`, "net": `{}`, "exec": `{}`, "undeclared": `{}`, "tells": `{}`,
}

// group returns the tools that the text lists under the words.
func group(text string, words ...string) []string {
	var names []string
	for l := range strings.Lines(text) {
		for _, w := range words {
			if rest, ok := strings.CutPrefix(l, "- "+w+": "); ok {
				for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(rest, -1) {
					names = append(names, m[1])
				}
			}
		}
	}
	return names
}

// What the text says of a tool is what an explanation says of a call of it,
// whatever the settings.
func TestGuidanceSaysWhatIsEnforced(t *testing.T) {
	dir := tree(t, map[string]string{"usual": "a", "usual-dir/x": "x", "sub/usual": "a", "secret/x": "x"})
	rules := []string{"read_file", "write_file", "net", "exec", "glob", "read_file(secret/**)", "write_file(out/**)", "edit_file(*.md)", "grep(src/**)", "recall", "delete_file(**)", "shell(curl:*)", "bash(git *)", "shell(domain:evil.example)"}
	somebody := func(context.Context, handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
		return handrail.ApprovalAnswer{}, nil
	}
	rapid.Check(t, func(rt *rapid.T) {
		some := func(name string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(rules), 0, 3, rapid.ID).Draw(rt, name)
		}
		o := handrail.Options{
			Workspace: dir, Guard: handrail.GuardOff,
			Permission: handrail.Permission{
				Mode:     rapid.SampledFrom([]handrail.Mode{"", handrail.ReadOnly, handrail.WorkspaceWrite, handrail.FullAccess}).Draw(rt, "mode"),
				Approval: rapid.SampledFrom([]handrail.Approval{"", handrail.Never, handrail.Untrusted, handrail.Always}).Draw(rt, "approval"),
				Allow:    some("allow"), Ask: some("ask"), Deny: some("deny"),
			},
			Files: handrail.WorkspaceOptions{ReadOnly: rapid.Bool().Draw(rt, "read-only")},
			Tools: []tool.Tool{named("pure", tool.Pure), named("net", tool.Network), named("exec", tool.Exec), named("undeclared", 0), named("tells", tool.Message)},
		}
		if rapid.Bool().Draw(rt, "somebody is there") {
			o.Approver = somebody
		}
		if rapid.Bool().Draw(rt, "policy") {
			o.Policy.Deny = []string{"move_file", "effect:exec"}
		}
		s := open(rt, o)
		if rapid.Bool().Draw(rt, "child") {
			s = child(rt, s, handrail.ChildOptions{Mode: rapid.SampledFrom([]handrail.Mode{"", handrail.ReadOnly, handrail.WorkspaceWrite}).Draw(rt, "its mode")})
		}
		text := s.Guidance()
		if again := s.Guidance(); again != text {
			rt.Fatalf("two texts of one session:\n%s\n%s", text, again)
		}
		agree(rt, s, text, o.Approver != nil)
	})
}

// agree compares the text with the session's own judgement.
func agree(t *rapid.T, s *handrail.Session, text string, somebody bool) {
	t.Helper()
	free, asked, refused := group(text, guidance.FreeWords), group(text, guidance.AskedWords, guidance.NobodyWords), group(text, guidance.RefusedWords)
	all := slices.Concat(free, asked, refused)
	slices.Sort(all)
	if want := names(s); !slices.Equal(all, want) {
		t.Fatalf("the text is about %q, and listed are %q", all, want)
	}
	if !somebody && len(group(text, guidance.AskedWords)) > 0 {
		t.Fatalf("it promises that somebody is asked where there is nobody:\n%s", text)
	}
	for name, args := range usualCalls {
		e := s.Explain(t.Context(), handrail.Call{Tool: name, Args: []byte(args)})
		listed := slices.Contains(all, name)
		if !listed {
			if e.Outcome != handrail.Deny {
				t.Fatalf("%s is not in the text and would be %s", name, e.Outcome)
			}
			continue
		}
		want := map[handrail.Outcome][]string{handrail.Allow: free, handrail.Ask: asked, handrail.Deny: refused}[e.Outcome]
		if !slices.Contains(want, name) {
			t.Fatalf("%s: an explanation says %s (%+v), and the text\n%s", name, e.Outcome, e.Steps, text)
		}
	}
}

// Every path that the text says is closed is, and so is every rule.
func TestGuidanceNamesWhatIsClosed(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "a", "sub/b.txt": "b"})
	s := open(t, handrail.Options{
		Workspace: dir, Files: handrail.WorkspaceOptions{Unreadable: []string{"keys", "/top.txt"}, Protected: []string{"*.lock"}},
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Deny: []string{"read_file(secret/**)"}, Ask: []string{"write_file(docs/**)"}},
	})
	text := s.Guidance()
	lines := strings.Split(text, "\n")
	has := func(words string, patterns ...string) {
		t.Helper()
		i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "- "+words) })
		if i < 0 {
			t.Fatalf("nothing is said of %q:\n%s", words, text)
		}
		for _, p := range patterns {
			if !strings.Contains(lines[i], "`"+p+"`") {
				t.Errorf("%q does not name %s", lines[i], p)
			}
		}
	}
	has("Never read", "keys", "/top.txt")
	has("Never changed", ".git", ".handrail", "*.lock")
	has("Rules refuse", "read_file(secret/**)")
	has("By rule these need a person's word", "write_file(docs/**)")
	for call, want := range map[string]handrail.Outcome{
		`read_file {"path":"sub/keys"}`: handrail.Deny, `read_file {"path":"top.txt"}`: handrail.Deny, `write_file {"path":"x/y.lock","content":""}`: handrail.Deny,
		`write_file {"path":".git/config","content":""}`: handrail.Deny, `read_file {"path":"secret/x"}`: handrail.Deny, `write_file {"path":"docs/x","content":""}`: handrail.Ask,
		`write_file {"path":"free.txt","content":""}`: handrail.Allow,
	} {
		name, args, _ := strings.Cut(call, " ")
		if e := s.Explain(t.Context(), handrail.Call{Tool: name, Args: []byte(args)}); e.Outcome != want {
			t.Errorf("%s: %s, want %s", call, e.Outcome, want)
		}
	}
	fenced := child(t, s, handrail.ChildOptions{Writable: []string{"out/*"}}).Guidance()
	if !strings.Contains(fenced, "Only these paths may be changed: `out/*`.") {
		t.Errorf("a fence is not named:\n%s", fenced)
	}
	created := child(t, s, handrail.ChildOptions{CreateOnly: true}).Guidance()
	if !strings.Contains(created, "New files may be made; what exists may not be changed.") {
		t.Errorf("that nothing may be changed is not said:\n%s", created)
	}
}

// A model is not told how to switch a protection off, and learns no path of
// the machine beside those that the operator opened for it.
func TestGuidanceNamesNoSettingAndNoPlace(t *testing.T) {
	dir := tree(t, map[string]string{"a": ""})
	for _, o := range []handrail.Options{{}, {Workspace: dir}, {Workspace: dir, Permission: handrail.Permission{Mode: handrail.FullAccess, Approval: handrail.Always}}} {
		text := open(t, o).Guidance()
		for _, word := range []string{dir, "full-access", "workspace-write", "read-only", "on-request", "--mode", "permission.", "approval"} {
			if strings.Contains(text, word) {
				t.Errorf("it says %q:\n%s", word, text)
			}
		}
		if len(text) > 6<<10 {
			t.Errorf("it has %d bytes", len(text))
		}
	}
	if text := open(t, handrail.Options{NoBuiltins: true}).Guidance(); !strings.Contains(text, "No tool may be used.") || !strings.Contains(text, "This session has no files.") {
		t.Error(text)
	}
	if text := guidance.Text(guidance.Facts{Folder: "a`b\n# c", Deny: []string{"x(`)\n- y"}}); strings.Contains(text, "\n# c") || strings.Contains(text, "\n- y") {
		t.Errorf("a name makes lines of its own: %s", text)
	}
}
