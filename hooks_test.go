package handrail_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// claudeHooks are hooks as people use them with Claude Code, whose scripts
// are run as they are.
func claudeHooks() []handrail.Hook {
	return []handrail.Hook{
		{Event: handrail.PreToolUse, Matcher: "Edit|Write", Command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/protect-files.sh`},
		{Event: handrail.PreToolUse, Matcher: "Bash", Command: "python3 $CLAUDE_PROJECT_DIR/.claude/hooks/bash_guard.py"},
		{Event: handrail.PostToolUse, Matcher: "Edit|MultiEdit|Write", Command: "${CLAUDE_PROJECT_DIR}/.claude/hooks/format.sh"},
	}
}

func hooked(t *testing.T, o handrail.Options, files map[string]string) (*handrail.Session, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	o.Workspace = dir
	if o.Permission.Mode == "" {
		o.Permission.Mode = handrail.WorkspaceWrite
	}
	return open(t, o), dir
}

func do(t *testing.T, s *handrail.Session, name string, args any) *tool.Result {
	t.Helper()
	r, err := s.CallJSON(t.Context(), name, args)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestClaudeCodeHooksRunUnchanged: three scripts of the kind that people have,
// on whichever tool does what they guard.
func TestClaudeCodeHooksRunUnchanged(t *testing.T) {
	files := map[string]string{"package-lock.json": "{}\n", "a.txt": "one\n"}
	for _, name := range []string{"protect-files.sh", "bash_guard.py", "format.sh"} {
		script, err := os.ReadFile(filepath.Join("testdata", "hooks", name))
		if err != nil {
			t.Fatal(err)
		}
		files[".claude/hooks/"+name] = string(script)
	}
	s, dir := hooked(t, handrail.Options{Hooks: claudeHooks()}, files)
	lock := "*** Begin Patch\n*** Update File: package-lock.json\n@@\n-{}\n+{1}\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch"
	if err := os.Symlink("package-lock.json", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, tool string
		args       obj
	}{
		{"edit_file", "edit_file", obj{"path": "package-lock.json", "old_string": "{}", "new_string": "{1}"}},
		{"write_file through a link", "write_file", obj{"path": "link.txt", "content": "x"}},
		{"apply_patch", "apply_patch", obj{"patch": lock}},
		{"shell", "shell", obj{"command": "rm -rf a.txt"}},
		{"exec_command", "exec_command", obj{"command": "rm -rf a.txt"}},
		{"the guard itself", "edit_file", obj{"path": ".claude/hooks/format.sh", "old_string": "lorem", "new_string": "x"}},
		{"run_code", "run_code", obj{"language": "sh", "code": "rm -rf a.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := do(t, s, c.tool, c.args)
			if r.OK || r.Code != tool.CodeDenied || c.name != "the guard itself" && !strings.Contains(r.Text, "a hook refused this call") {
				t.Errorf("%s went past its hook: %v %s %s", c.tool, r.OK, r.Code, r.Text)
			}
		})
	}
	if r := do(t, s, "shell", obj{"command": "echo exit 0 > .claude/hooks/protect-files.sh || mv .claude .other"}); r.OK {
		t.Errorf("a command wrote the guard: %s", r.Text)
	}
	if r := do(t, s, "shell", obj{"command": "echo push origin"}); !r.OK || !strings.Contains(r.Text, "push origin --dry-run") || !strings.Contains(r.Text, "[hook] pushes are dry runs here") {
		t.Errorf("a rewriting: %s", r.Text)
	}
	r := do(t, s, "write_file", obj{"path": "new.txt", "content": "lorem  \nipsum\t\n"})
	if data, err := os.ReadFile(filepath.Join(dir, "new.txt")); err != nil || string(data) != "lorem\nipsum\n" {
		t.Errorf("the formatter left %q, %v", data, err)
	}
	if !r.OK || !strings.Contains(r.Text, "still has filler text") || !strings.Contains(r.Text, "Changed by a hook: new.txt") {
		t.Errorf("%s", r.Text)
	}
	if r = do(t, s, "undo", obj{}); !r.OK {
		t.Errorf("what a hook changed cannot be undone: %s", r.Text)
	}
}

// H6, and the torture: a rewriting is decoded, checked and judged.
func TestARewriteIsJudged(t *testing.T) {
	for name, c := range map[string]struct{ updated, want string }{
		"into a denied call":     {`{"file_path":"secret/x","content":"y"}`, "refused by write_file(secret/**)"},
		"out of the workspace":   {`{"file_path":"/etc/passwd","content":"y"}`, "outside"},
		"into a closed path":     {`{"file_path":".git/config","content":"y"}`, "closed to tools"},
		"into what does not fit": {`{"file_path":"x"}`, "does not fit"},
		"into nothing known":     {`{"path_of_file":"x","content":"y"}`, "path_of_file"},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := hooked(t, handrail.Options{
				Permission: handrail.Permission{Deny: []string{"write_file(secret/**)"}},
				Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Matcher: "Write", Command: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse",` +
					`"permissionDecision":"allow","updatedInput":` + c.updated + `}}'`}},
			}, nil)
			r := do(t, s, "write_file", obj{"path": "fine.txt", "content": "x"})
			if r.OK || r.Code != tool.CodeDenied && r.Code != tool.CodeInvalidInput || !strings.Contains(r.Text, c.want) {
				t.Errorf("%s: %s; want %q", r.Code, r.Text, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "fine.txt")); err == nil {
				t.Error("the call ran as it was")
			}
		})
	}
}

// What runs was seen by every gate, whoever rewrote it.
func TestEveryGateSeesWhatRuns(t *testing.T) {
	s, _ := hooked(t, handrail.Options{Hooks: []handrail.Hook{
		{Event: handrail.PreToolUse, Matcher: "Bash", Command: `grep -q '"command":"evil"' && { echo "evil is refused" >&2; exit 2; }; exit 0`},
		{Event: handrail.PreToolUse, Matcher: "Bash", Command: `echo '{"hookSpecificOutput":{"updatedInput":{"command":"evil"}}}'`},
	}}, nil)
	if r := do(t, s, "shell", obj{"command": "true"}); r.Code != tool.CodeDenied || !strings.Contains(r.Text, "evil is refused") {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
}

func answering(e handrail.HookEvent, a handrail.HookAnswer) handrail.Hook {
	return handrail.Hook{Event: e, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) { return a, nil }}
}

// TestAllowNeverBeats: a hook's allow answers the mode's question and no
// other, and one that stands for a person everything but the way out of the
// fence.
func TestAllowNeverBeats(t *testing.T) {
	allow := handrail.HookAnswer{Verdict: handrail.HookAllow}
	before, instead := answering(handrail.PreToolUse, allow), answering(handrail.PermissionRequest, allow)
	for _, c := range []struct {
		name       string
		permission handrail.Permission
		hooks      []handrail.Hook
		tool       string
		args       obj
		want       tool.Code
	}{
		{"the mode's question", handrail.Permission{Mode: handrail.ReadOnly}, []handrail.Hook{before}, "write_file", obj{"path": "a", "content": "x"}, ""},
		{"nobody is ever asked", handrail.Permission{Mode: handrail.ReadOnly, Approval: handrail.Never}, []handrail.Hook{before, instead}, "write_file", obj{"path": "a", "content": "x"}, tool.CodeDenied},
		{"a deny rule", handrail.Permission{Deny: []string{"write_file(a)"}}, []handrail.Hook{before, instead}, "write_file", obj{"path": "a", "content": "x"}, tool.CodeDenied},
		{"a closed path", handrail.Permission{}, []handrail.Hook{before, instead}, "write_file", obj{"path": ".git/config", "content": "x"}, tool.CodeDenied},
		{"an ask rule", handrail.Permission{Ask: []string{"write_file(a)"}}, []handrail.Hook{before}, "write_file", obj{"path": "a", "content": "x"}, tool.CodeApprovalRequired},
		{"an ask rule, for a person", handrail.Permission{Ask: []string{"write_file(a)"}}, []handrail.Hook{instead}, "write_file", obj{"path": "a", "content": "x"}, ""},
		{"approval always", handrail.Permission{Approval: handrail.Always}, []handrail.Hook{before}, "write_file", obj{"path": "a", "content": "x"}, tool.CodeApprovalRequired},
		{"another hook asks", handrail.Permission{}, []handrail.Hook{before, answering(handrail.PreToolUse, handrail.HookAnswer{Verdict: handrail.HookAsk, Reason: "look"})},
			"write_file", obj{"path": "a", "content": "x"}, tool.CodeApprovalRequired},
		{"out of the fence", handrail.Permission{}, []handrail.Hook{before, instead}, "shell", obj{"command": "true", "unfenced": true, "justification": "j"}, tool.CodeApprovalRequired},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := hooked(t, handrail.Options{Permission: c.permission, Hooks: c.hooks}, nil)
			if r := do(t, s, c.tool, c.args); r.Code != c.want {
				t.Errorf("%s: %s; want %q", r.Code, r.Text, c.want)
			}
		})
	}
}

// A permission_request hook is asked in the place of a person, may refuse, and
// may rewrite what it allows, which is judged like anything else.
func TestPermissionRequest(t *testing.T) {
	asked := 0
	person := func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
		asked++
		return handrail.ApprovalAnswer{Allow: true, Digest: r.Digest}, nil
	}
	run := func(answer string, deny ...string) (*tool.Result, string) {
		s, dir := hooked(t, handrail.Options{
			Permission: handrail.Permission{Ask: []string{"write_file"}, Deny: deny}, Approver: person,
			Hooks: []handrail.Hook{{Event: handrail.PermissionRequest, Matcher: "Write", Command: "cat > told.json; echo '" + answer + "'"}},
		}, nil)
		return do(t, s, "write_file", obj{"path": "a.txt", "content": "x"}), dir
	}
	const decision = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`
	r, dir := run(decision + `{"behavior":"allow"}}}`)
	told, err := os.ReadFile(filepath.Join(dir, "told.json"))
	if !r.OK || asked != 0 || err != nil || !strings.Contains(string(told), `"hook_event_name":"PermissionRequest"`) {
		t.Errorf("allowed: %s, asked %d, %s", r.Text, asked, told)
	}
	if r, _ = run(decision + `{"behavior":"deny","message":"not today"}}}`); r.OK || asked != 0 || !strings.Contains(r.Text, "not today") {
		t.Errorf("denied: %s, asked %d", r.Text, asked)
	}
	if r, _ = run(""); !r.OK || asked != 1 {
		t.Errorf("a hook that says nothing leaves it to the person: %s, asked %d", r.Text, asked)
	}
	rewrite := decision + `{"behavior":"allow","updatedInput":{"file_path":"b.txt","content":"y"}}}}`
	r, dir = run(rewrite)
	if data, err := os.ReadFile(filepath.Join(dir, "b.txt")); !r.OK || err != nil || string(data) != "y" || asked != 1 {
		t.Errorf("rewritten: %s, %q, %v, asked %d", r.Text, data, err, asked)
	}
	if r, _ = run(rewrite, "write_file(b.txt)"); r.OK || !strings.Contains(r.Text, "is refused by write_file(b.txt)") {
		t.Errorf("rewritten into a denied call: %s", r.Text)
	}
	if r, _ = run("{"); r.OK || !strings.Contains(r.Text, "cannot be read") || asked != 1 {
		t.Errorf("an answer that cannot be read: %s, asked %d", r.Text, asked)
	}
}

// TestLifeOfASession: each event reaches its hooks, once, and what they have to
// say reaches the model or the caller.
func TestLifeOfASession(t *testing.T) {
	log := func(e handrail.HookEvent, say string) handrail.Hook {
		return handrail.Hook{Event: e, Command: `jq -r '[.hook_event_name, .source // .reason // .agent_type // .prompt // .model // .trigger // .notification_type // ""] | join(" ")' >> events; ` + say}
	}
	all := []handrail.Hook{
		log(handrail.SessionStart, "echo the branch is main"), log(handrail.SessionEnd, ""), log(handrail.SubagentStart, ""), log(handrail.SubagentStop, ""),
		log(handrail.UserPromptSubmit, "echo no secrets >&2; exit 2"), log(handrail.TurnStart, ""), log(handrail.TurnStop, `echo '{"decision":"block","reason":"tests fail"}'`),
		log(handrail.PreLLMCall, ""), log(handrail.PostLLMCall, ""), log(handrail.PreCompact, ""), log(handrail.PostCompact, ""), log(handrail.Notification, ""),
	}
	s, dir := hooked(t, handrail.Options{Hooks: all, OnEvent: func(e handrail.Event) {
		if e.Hook != nil {
			t.Errorf("%+v", *e.Hook)
		}
	}}, map[string]string{"a": "x\n"})
	s.Explain(t.Context(), handrail.Call{Tool: "read_file", Args: json.RawMessage(`{"path":"a"}`)}) // which starts nothing
	if r := do(t, s, "read_file", obj{"path": "a"}); !r.OK || !strings.Contains(r.Text, "[hook] the branch is main") {
		t.Errorf("the first result: %s", r.Text)
	}
	if r := do(t, s, "list_dir", obj{}); strings.Contains(r.Text, "the branch") {
		t.Errorf("the second result: %s", r.Text)
	}
	fire := func(e handrail.HookEvent, subject string, fields map[string]any) handrail.HookOutcome {
		o, err := s.Fire(t.Context(), handrail.HookInput{Event: e, Subject: subject, Fields: fields})
		if err != nil {
			t.Error(err)
		}
		return o
	}
	if o := fire(handrail.UserPromptSubmit, "", map[string]any{"prompt": "hello"}); o.Verdict != handrail.HookDeny || o.Reason != "no secrets" {
		t.Errorf("%+v", o)
	}
	fire(handrail.TurnStart, "", nil)
	fire(handrail.PreLLMCall, "opus", nil)
	fire(handrail.PostLLMCall, "opus", nil)
	fire(handrail.PreCompact, "auto", nil)
	fire(handrail.PostCompact, "auto", nil)
	fire(handrail.Notification, "idle_prompt", nil)
	if o := fire(handrail.TurnStop, "", nil); o.Verdict != handrail.HookDeny || o.Reason != "tests fail" {
		t.Errorf("%+v", o)
	}
	if _, err := s.Fire(t.Context(), handrail.HookInput{Event: handrail.PreToolUse}); err == nil {
		t.Error("an event of the journey was fired from outside")
	}
	child, err := s.Child(t.Context(), handrail.ChildOptions{Name: "Explore"})
	if err != nil {
		t.Fatal(err)
	}
	do(t, child, "read_file", obj{"path": "a"})
	if err := child.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "events"))
	const want = "SessionStart startup\nUserPromptSubmit hello\nTurnStart \nPreLLMCall opus\nPostLLMCall opus\nPreCompact auto\nPostCompact auto\n" +
		"Notification idle_prompt\nStop \nSubagentStart Explore\nSubagentStop Explore\nSessionEnd other\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// A call that ran and failed is told as such; one that was refused is not.
func TestFailureIsTold(t *testing.T) {
	log := `jq -r '[.hook_event_name, .tool_name, (.error // "" | length > 0), .is_interrupt] | @csv' >> told`
	s, dir := hooked(t, handrail.Options{
		Permission: handrail.Permission{Deny: []string{"write_file"}},
		Hooks:      []handrail.Hook{{Event: handrail.PostToolUse, Command: log}, {Event: handrail.PostToolUseFailure, Command: log}},
	}, nil)
	do(t, s, "shell", obj{"command": "exit 3"})
	do(t, s, "write_file", obj{"path": "a", "content": "x"})
	do(t, s, "list_dir", obj{})
	got, err := os.ReadFile(filepath.Join(dir, "told"))
	if want := "\"PostToolUseFailure\",\"Bash\",true,false\n\"PostToolUse\",\"LS\",false,\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// A condition is a permission rule.
func TestHookIf(t *testing.T) {
	s, _ := hooked(t, handrail.Options{Hooks: []handrail.Hook{{Event: handrail.PreToolUse, If: "Edit(secret/**)", Command: "exit 2"}}}, nil)
	if r := do(t, s, "write_file", obj{"path": "a", "content": "x"}); !r.OK {
		t.Errorf("a call that the rule is not about: %s", r.Text)
	}
	if r := do(t, s, "write_file", obj{"path": "secret/a", "content": "x"}); r.OK {
		t.Error("a call that the rule is about went past")
	}
	_, err := handrail.Open(t.Context(), handrail.Options{Workspace: t.TempDir(), Hooks: []handrail.Hook{{Event: handrail.PreToolUse, If: "Edti(x)", Command: "exit 2"}}})
	if err == nil || !strings.Contains(err.Error(), `"Edti(x)" names no tool`) {
		t.Errorf("%v", err)
	}
}

// A hook that fails is reported, and a stop reaches the host.
func TestHookReports(t *testing.T) {
	var mu sync.Mutex
	var seen []handrail.HookReport
	s, _ := hooked(t, handrail.Options{
		OnEvent: func(e handrail.Event) {
			if e.Phase == handrail.PhaseHook {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, *e.Hook)
			}
		},
		Hooks: []handrail.Hook{
			{Event: handrail.PreToolUse, Matcher: "LS", Command: "exit 7"},
			{Event: handrail.PostToolUse, Matcher: "Write", Command: `echo '{"continue":false,"stopReason":"that is enough","systemMessage":"stopped it"}'`},
		},
	}, nil)
	for range 4 {
		if r := do(t, s, "list_dir", obj{}); r.Code != tool.CodeDenied {
			t.Errorf("%s: %s", r.Code, r.Text)
		}
	}
	r := do(t, s, "write_file", obj{"path": "a", "content": "x"})
	if !r.OK || r.Metadata["stop_turn"] != "hook" || r.Metadata["stop_reason"] != "that is enough" {
		t.Errorf("%v %v", r.OK, r.Metadata)
	}
	if len(seen) != 4 || !seen[2].Tripped || seen[2].Failures != 3 || seen[3].Message != "stopped it" {
		t.Errorf("%+v", seen)
	}
}

// Who may write what a hook's script is, or what it loads from beside it,
// decides what the hook says.
func TestGuardsCannotBeReplaced(t *testing.T) {
	guard := "#!/bin/sh\ncd \"$(dirname \"$0\")\" && . ./common.sh\n"
	s, dir := hooked(t, handrail.Options{Hooks: []handrail.Hook{
		{Event: handrail.PreToolUse, Matcher: "Bash", Command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh`},
		{Event: handrail.PreToolUse, Matcher: "LS", Command: "tools/linked.sh"},
	}}, map[string]string{
		".claude/hooks/guard.sh": guard, ".claude/hooks/common.sh": "exit 0\n", "scripts/real.sh": "#!/bin/sh\nexit 0\n", "tools/other.sh": "x",
	})
	if err := os.Symlink("../scripts/real.sh", filepath.Join(dir, "tools", "linked.sh")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}, Hooks: []handrail.Hook{
		{Event: handrail.PreToolUse, Matcher: "LS", Command: "tools/linked.sh"},
		{Event: handrail.PreToolUse, Matcher: "Grep", Command: `"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh`},
	}})
	for _, path := range []string{"scripts/real.sh", "tools/linked.sh", ".claude/hooks/guard.sh", ".claude/hooks/common.sh", ".claude/hooks/json.py"} {
		if r := do(t, s, "write_file", obj{"path": path, "content": "exit 0\n"}); r.OK {
			t.Errorf("a tool wrote %s: %s", path, r.Text)
		}
		if r := do(t, s, "shell", obj{"command": "echo exit 0 > " + path}); r.OK {
			t.Errorf("a command wrote %s: %s", path, r.Text)
		}
	}
	for _, path := range []string{"scripts/new.sh", "tools/other.sh", ".claude/notes.md"} {
		if r := do(t, s, "write_file", obj{"path": path, "content": "x\n"}); !r.OK {
			t.Errorf("what no hook runs is closed: %s", r.Text)
		}
	}
	for _, command := range []string{"mv scripts old", "mv .claude old", "rm -rf scripts", "ln -sf /bin/true tools/linked.sh", "mv tools old"} {
		do(t, s, "shell", obj{"command": command})
	}
	for _, path := range []string{"scripts/real.sh", "tools/linked.sh", ".claude/hooks/guard.sh"} {
		if data, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !strings.HasPrefix(string(data), "#!/bin/sh\n") {
			t.Errorf("commands have changed %s: %q, %v", path, data, err)
		}
	}
}

// A child in another folder has the hooks of its parent, and not what lies in
// that folder under the names of their scripts.
func TestAChildHasTheGuardsOfItsParent(t *testing.T) {
	for _, command := range []string{`"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh`, "sh .claude/hooks/guard.sh"} {
		s, dir := hooked(t, handrail.Options{Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Command: command}}}, map[string]string{
			".claude/hooks/guard.sh":     "#!/bin/sh\ngrep -q secret && { echo no secrets >&2; exit 2; }\nexit 0\n",
			"sub/.claude/hooks/guard.sh": "#!/bin/sh\nexit 0\n",
			"sub/a":                      "x\n",
		})
		child, err := s.Child(t.Context(), handrail.ChildOptions{Workspace: "sub", Name: "Explore"})
		if err != nil {
			t.Fatal(err)
		}
		if r := do(t, child, "write_file", obj{"path": "secret", "content": "x"}); r.OK || !strings.Contains(r.Text, "no secrets") {
			t.Errorf("%s: the guard of the child says %s", command, r.Text)
		}
		if r := do(t, child, "read_file", obj{"path": "a"}); !r.OK {
			t.Errorf("%s in %s: %s", command, dir, r.Text)
		}
	}
}

// Nothing keeps a tool from a script in a folder that is granted for writing.
func TestAGuardInAGrantedFolderIsRefused(t *testing.T) {
	dir, shared := t.TempDir(), t.TempDir()
	script := filepath.Join(shared, "guard.sh")
	if err := errors.Join(os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o700), os.Symlink(script, filepath.Join(dir, "link.sh"))); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{script, "sh " + script, "./link.sh", "$CLAUDE_PROJECT_DIR/link.sh"} {
		o := handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}, Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Command: command}}}
		s, err := handrail.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		o.Files.Granted = []string{shared}
		if s, err = handrail.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "lies in the granted folder") {
			t.Errorf("%s is taken: %v", command, err)
			_ = s.Close()
		}
	}
}

// What a hook prints as it fails may hold what is secret here.
func TestReportsOfHooksAreRedacted(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	var mu sync.Mutex
	var seen []string
	s, _ := hooked(t, handrail.Options{
		Secrets: map[string]string{"PASSWORD": secret},
		OnEvent: func(e handrail.Event) {
			if e.Phase == handrail.PhaseHook {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, e.Hook.Failure+e.Hook.Message)
			}
		},
		Hooks: []handrail.Hook{
			{Event: handrail.PreToolUse, Matcher: "LS", Command: "cat key; exit 7"},
			{Event: handrail.PreToolUse, Matcher: "Read", Command: `echo "{\"systemMessage\":\"$(cat key)\"}"`},
		},
	}, map[string]string{"key": secret})
	do(t, s, "list_dir", obj{})
	do(t, s, "read_file", obj{"path": "key"})
	if len(seen) != 2 || strings.Contains(strings.Join(seen, " "), secret) {
		t.Errorf("%q", seen)
	}
}
