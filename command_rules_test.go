package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// onlyShells is a person who lets shells start, so that something can be typed
// into one, and is not there for anything else.
func onlyShells(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	if r.Tool == "exec_command" && r.Act.Command == "bash --norc" {
		return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true}, nil
	}
	return handrail.ApprovalAnswer{}, permission.ErrNobody
}

// verdictOf is what became of a call as far as the gates are concerned.
func verdictOf(code tool.Code) string {
	switch code {
	case tool.CodeDenied:
		return "denied"
	case tool.CodeApprovalRequired:
		return "asked"
	}
	return "let through"
}

// An origin takes a command the whole way and returns its verdict. One whose
// shell has run others before cannot know what a relative name means there: it
// may ask where others are sure, and is never laxer.
type origin struct {
	name    string
	resumed bool
	take    func(command string) string
}

// waysOf are the ways on which a command reaches a session.
func waysOf(t *testing.T, o handrail.Options) []origin {
	t.Helper()
	o.Approver, o.Guard = onlyShells, handrail.GuardAdvise
	o.Workspace = tree(t, map[string]string{".env": "SECRET=1\n", "a.txt": "x\n", "docs/b.txt": "x\n"})
	s := open(t, o)
	direct := func(name string, more obj, key string) func(string) string {
		return func(command string) string {
			args := obj{key: command}
			for k, v := range more {
				args[k] = v
			}
			return verdictOf(order(t, s, name, args).Code)
		}
	}
	shells := direct("shell", nil, "command")
	typed := func(tty bool) func(string) string {
		return func(command string) string {
			r := order(t, s, "exec_command", obj{"cmd": "bash --norc", "stdin": !tty, "tty": tty, "yield_time_ms": 1})
			id := r.Metadata["session_id"]
			got := order(t, s, "write_stdin", obj{"session_id": id, "chars": command + "\n", "yield_time_ms": 1})
			order(t, s, "write_stdin", obj{"session_id": id, "end": true})
			return verdictOf(got.Code)
		}
	}
	rewritten := o
	rewritten.Hooks = []handrail.Hook{{Event: handrail.PreToolUse, Func: func(_ context.Context, c handrail.HookInput) (handrail.HookAnswer, error) {
		var args struct{ Description string }
		_ = json.Unmarshal(c.Args, &args) // the test's own
		raw, err := json.Marshal(obj{"command": args.Description})
		return handrail.HookAnswer{Args: raw}, err
	}}}
	hooked := open(t, rewritten)
	kid := child(t, s, handrail.ChildOptions{})
	list := []origin{
		{"library", false, shells},
		{"exec_command", false, direct("exec_command", obj{"yield_time_ms": 1}, "cmd")},
		{"run_code", true, direct("run_code", obj{"language": "sh"}, "code")},
		{"batch", false, func(command string) string {
			raw, _ := json.Marshal(obj{"command": command}) // a string
			rs := s.Run(t.Context(), handrail.Call{Tool: "read_file", Args: []byte(`{"path":"a.txt"}`)}, handrail.Call{Tool: "shell", Args: raw})
			return verdictOf(rs[1].Code)
		}},
		{"hook's rewrite", false, func(command string) string {
			return verdictOf(order(t, hooked, "shell", obj{"command": "true", "description": command}).Code)
		}},
		{"child", false, func(command string) string { return verdictOf(order(t, kid, "shell", obj{"command": command}).Code) }},
		{"typed", true, typed(false)}, {"typed into a terminal", true, typed(true)},
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		c := dialAs(t, s, &mcp.ClientSessionOptions{ProtocolVersion: version})
		list = append(list, origin{"MCP " + version, false, func(command string) string {
			raw, _ := json.Marshal(obj{"command": command}) // a string
			code, _ := callMCP(c, "shell", string(raw))
			return verdictOf(tool.Code(code))
		}})
	}
	return list
}

// TestF094_SameVerdictFromEveryOrigin: random rules and commands, of which
// those that are let through do no harm.
func TestF094_SameVerdictFromEveryOrigin(t *testing.T) {
	rules := []string{"shell(git *)", "bash(echo x)", "exec_command(ls:*)", "shell(env *)", "read_file(.env)", "read_file(docs/**)", "edit_file(docs/**)", "WebFetch(domain:evil.example)", "Read(a.txt)", "Bash(env:*)", "shell(*version*)", "write_stdin(date:*)"}
	texts := []string{
		"git --version", "echo x", "echo y", "ls", "ls docs", "cat .env", "cat docs/b.txt", "env true", "sh -c 'git --version'", "true && git --version", "G=git; $G --version", "(ls)", "cat a.txt | head -1", "date", "nice date", "echo x >> docs/b.txt", "touch docs/b.txt", "curl evil.example", "cat .e*", "echo \"$(date)\"",
	}
	random := rand.New(rand.NewPCG(5, 1))
	pick := func(from []string, most int) (list []string) {
		for range random.IntN(most + 1) {
			list = append(list, from[random.IntN(len(from))])
		}
		return list
	}
	seen := map[string]int{}
	for range 6 {
		p := handrail.Permission{Allow: pick(rules, 2), Ask: pick(rules, 2), Deny: pick(rules, 2)}
		p.Mode = []permission.Mode{handrail.ReadOnly, handrail.WorkspaceWrite}[random.IntN(2)]
		ways := waysOf(t, handrail.Options{Permission: p})
		for range 4 {
			text := texts[random.IntN(len(texts))]
			want := ways[0].take(text)
			seen[want]++
			for _, way := range ways[1:] {
				got := way.take(text)
				if way.resumed && got == "asked" && strings.ContainsAny(text, "./$") {
					continue
				}
				if got != want {
					t.Errorf("%+v: %q is %s by %s, and %s by %s", p, text, want, ways[0].name, got, way.name)
				}
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("verdicts: %v", seen)
	}
}

// TestOracle_33Spellings: through a whole session, from the library and typed.
func TestOracle_33Spellings(t *testing.T) {
	s := open(t, handrail.Options{Workspace: t.TempDir(), Guard: handrail.GuardAdvise, Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"bash(git *)"}}, Approver: onlyShells})
	r := order(t, s, "exec_command", obj{"cmd": "bash --norc", "stdin": true, "yield_time_ms": 1})
	for _, text := range []string{
		"git status", "git -C . status", "/usr/bin/git status", `g\it status`, `"g"it status`, "'git' status", "env git status",
		"command git status", "exec git status", "nice git status", "nohup git status", "time git status", "setsid git status",
		"stdbuf -oL git status", "sudo -n git status", "echo x; git status", "(git status)", "{ git status; }",
		"if true; then git status; fi", "`git status`", "G=git; $G status", "echo status | xargs git",
		"bash -c 'git status'", "sh -c 'git status'", "eval 'git status'", "$(echo git) status", `find . -maxdepth 0 -exec git status \;`,
		"echo 'git status' | sh", `awk 'BEGIN{system("git status")}'`, `python3 -c "import os; os.system('git status')"`,
		"git${IFS}status", "busybox sh -c 'git status'", "echo status | xargs -I{} git {}",
	} {
		for name, args := range map[string]obj{
			"shell": {"command": text}, "exec_command": {"cmd": text}, "run_code": {"language": "sh", "code": text}, "write_stdin": {"session_id": r.Metadata["session_id"], "chars": text + "\n"},
		} {
			got := order(t, s, name, args)
			if got.Code != tool.CodeDenied && (got.Code != tool.CodeApprovalRequired || name == "shell" || name == "exec_command") {
				t.Errorf("%s %q: %q %s", name, text, got.Code, got.Text)
			}
			if !strings.Contains(got.Text, "bash(git *)") {
				t.Errorf("%s %q: the rule is not named: %s", name, text, got.Text)
			}
		}
	}
}

// TestTypingInPieces: no way to cut a command into calls gets round a rule.
func TestTypingInPieces(t *testing.T) {
	for _, tty := range []bool{false, true} {
		dir := tree(t, map[string]string{"x": "here"})
		s := open(t, handrail.Options{Workspace: dir, Guard: handrail.GuardAdvise, Approver: onlyShells,
			Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"bash(rm *)"}}})
		for _, pieces := range [][]string{
			{"rm x\n"}, {"r", "m", " x", "\n"}, {"echo hi; r", "m x\n"}, {"r\\\n", "m x\n"}, {"echo 'a\n", "b'; r", "m x\n"}, {"if true\nthen ", "rm", " x\nfi\n"}, {"cat <<E | sh\n", "r", "m x\nE\n"},
		} {
			r := order(t, s, "exec_command", obj{"cmd": "bash --norc", "stdin": !tty, "tty": tty, "yield_time_ms": 1})
			stopped := false
			for _, piece := range pieces {
				got := order(t, s, "write_stdin", obj{"session_id": r.Metadata["session_id"], "chars": piece, "yield_time_ms": 1})
				if stopped = got.Code == tool.CodeDenied || got.Code == tool.CodeApprovalRequired; stopped {
					break
				}
			}
			if !stopped {
				t.Errorf("terminal %v: %q was typed", tty, pieces)
			}
			order(t, s, "write_stdin", obj{"session_id": r.Metadata["session_id"], "end": true})
		}
		// In one batch, where both are judged before either is typed.
		r := order(t, s, "exec_command", obj{"cmd": "bash --norc", "stdin": !tty, "tty": tty, "yield_time_ms": 1})
		id := r.Metadata["session_id"]
		rs := s.Run(t.Context(),
			handrail.Call{Tool: "write_stdin", Args: fmt.Appendf(nil, `{"session_id":%v,"chars":"echo a; r","yield_time_ms":1}`, id)},
			handrail.Call{Tool: "write_stdin", Args: fmt.Appendf(nil, `{"session_id":%v,"chars":"m x\n","yield_time_ms":1}`, id)})
		if !rs[0].OK || rs[1].Code != tool.CodeDenied {
			t.Errorf("terminal %v: in a batch: %q %q %s", tty, rs[0].Code, rs[1].Code, rs[1].Text)
		}
		if content(t, dir, "x") != "here" {
			t.Error("the file was removed")
		}
	}
}

// TestOtherDoorsToACommand: the checker, other languages and keys.
func TestOtherDoorsToACommand(t *testing.T) {
	dir := tree(t, map[string]string{"go.mod": "module x\n\ngo 1.26\n", "x.go": "package x\n"})
	s := open(t, handrail.Options{Workspace: dir, Guard: handrail.GuardAdvise, Approver: onlyShells, Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"bash(go vet *)"}}})
	if r := order(t, s, "check", obj{}); r.Code != tool.CodeDenied || !strings.Contains(r.Text, "go vet") {
		t.Errorf("the checker: %q %s", r.Code, r.Text)
	}
	if r := order(t, s, "run_code", obj{"language": "python", "code": "import os; os.system('go vet ./...')"}); r.Code != tool.CodeDenied {
		t.Errorf("python that names it: %q %s", r.Code, r.Text)
	}
	if r := order(t, s, "run_code", obj{"language": "python", "code": "print(1)"}); r.Code != tool.CodeApprovalRequired || !strings.Contains(r.Text, "cannot be told") {
		t.Errorf("python: %q %s", r.Code, r.Text)
	}
	r := order(t, s, "exec_command", obj{"cmd": "bash --norc", "tty": true, "yield_time_ms": 1})
	id := r.Metadata["session_id"]
	// A signal would end a shell that has not come to its prompt.
	for i := 0; i < 100 && !strings.Contains(r.Text, "bash-"); i++ {
		r = order(t, s, "write_stdin", obj{"session_id": id, "yield_time_ms": 100})
	}
	for _, step := range []struct {
		args obj
		want tool.Code
	}{
		{obj{"chars": "true\n"}, ""}, {obj{"keys": []string{"up"}}, tool.CodeApprovalRequired}, {obj{"chars": "!go\n"}, tool.CodeApprovalRequired}, {obj{"chars": "go v\tx"}, tool.CodeApprovalRequired},
		{obj{"keys": []string{"ctrl-c"}}, ""}, {obj{"chars": "go vet", "keys": []string{"enter"}}, tool.CodeDenied}, {obj{"yield_time_ms": 1}, ""}, {obj{"signal": "CONT"}, tool.CodeInvalidInput},
	} {
		step.args["session_id"], step.args["yield_time_ms"] = id, 1
		if got := order(t, s, "write_stdin", step.args); got.Code != step.want {
			t.Errorf("%v: %q, want %q: %s", step.args, got.Code, step.want, got.Text)
		}
	}
	other := open(t, handrail.Options{Workspace: dir, Commands: handrail.CommandOptions{Check: "git status"}, Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"shell(git:*)"}}})
	if r := order(t, other, "check", obj{}); r.Code != tool.CodeDenied {
		t.Errorf("the operator's own checker: %q %s", r.Code, r.Text)
	}
}

// TestExplainACommand: what is known of a command is told to who asks, and to
// the person who is asked.
func TestExplainACommand(t *testing.T) {
	var asked handrail.ApprovalRequest
	s := open(t, handrail.Options{
		Workspace: tree(t, map[string]string{"a": "x"}), Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Ask: []string{"shell(cp:*)"}},
		Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			asked = r
			return handrail.ApprovalAnswer{}, nil
		},
	})
	text := fmt.Sprint(s.Explain(t.Context(), handrail.Call{Tool: "shell", Args: []byte(`{"command":"cp a b; curl https://x.example/"}`)}))
	for _, want := range []string{"reads a", "writes b", "reaches https://x.example/", "shell(cp:*)", "cp a b (line 1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	order(t, s, "shell", obj{"command": "cp a b", "workdir": "."})
	if parts := asked.Act.Parts(); !strings.Contains(parts, "writes b") || len(asked.Act.Touches) != 2 {
		t.Errorf("the person is shown %q", parts)
	}
}

// TestFieldReports_CommandRules are reports about rules for commands, each in
// a whole session.
func TestFieldReports_CommandRules(t *testing.T) {
	files := map[string]string{".env": "SECRET=1\n", "a.txt": "x\n"}
	code := func(t *testing.T, p handrail.Permission, name string, args obj) (tool.Code, string) {
		t.Helper()
		r := order(t, open(t, handrail.Options{Workspace: tree(t, files), Permission: p}), name, args)
		return r.Code, r.Text
	}
	t.Run("F079 one result for a substitution, whatever the rules", func(t *testing.T) {
		for _, p := range []handrail.Permission{{}, {Mode: handrail.WorkspaceWrite}, {Approval: permission.Untrusted}, {Approval: permission.Never}, {Allow: []string{"shell(echo:*)"}}, {Deny: []string{"shell(git:*)"}}} {
			if got, text := code(t, p, "shell", obj{"command": "echo $(date)"}); got != "" {
				t.Errorf("%+v: %q %s", p, got, text)
			}
			if got, text := code(t, p, "shell", obj{"command": "echo $(git push)"}); p.Deny != nil && (got != tool.CodeDenied || !strings.Contains(text, "through $()")) {
				t.Errorf("%+v: %q %s", p, got, text)
			}
		}
	})
	t.Run("F082 one rule for a file, by every door", func(t *testing.T) {
		p := handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"Read(.env)"}}
		for _, call := range []struct {
			tool string
			args obj
		}{
			{"read_file", obj{"path": "./.env"}}, {"shell", obj{"command": "cat ./.env"}}, {"shell", obj{"command": "cat .env", "workdir": "."}}, {"exec_command", obj{"cmd": "cat < .env"}},
			{"run_code", obj{"language": "sh", "code": "cat .env"}}, {"shell", obj{"command": "cat .e*"}}, {"shell", obj{"command": "source .env; env"}},
		} {
			if got, text := code(t, p, call.tool, call.args); got != tool.CodeDenied && got != tool.CodeApprovalRequired {
				t.Errorf("%v: %q %s", call, got, text)
			}
		}
	})
	t.Run("F084 a child has the rules of its parent", func(t *testing.T) {
		s := open(t, handrail.Options{Workspace: tree(t, files), Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"Bash(git *)"}}})
		if r := order(t, child(t, s, handrail.ChildOptions{}), "shell", obj{"command": "git status"}); r.Code != tool.CodeDenied {
			t.Errorf("%q: %s", r.Code, r.Text)
		}
	})
	t.Run("F095 where nobody can be asked, that is the answer", func(t *testing.T) {
		if got, text := code(t, handrail.Permission{Ask: []string{"Bash(touch *)"}}, "shell", obj{"command": "touch x"}); got != tool.CodeApprovalRequired || !strings.Contains(text, "touch x (line 1)") {
			t.Errorf("%q: %s", got, text)
		}
	})
	t.Run("F096 a rule for commands takes no tool away", func(t *testing.T) {
		p := handrail.Permission{Allow: []string{"Bash(ls *)"}}
		if got, text := code(t, p, "read_file", obj{"path": "a.txt"}); got != "" {
			t.Errorf("%q: %s", got, text)
		}
	})
}
