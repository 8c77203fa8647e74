package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// origins are all kinds of askers.
var origins = []tool.OriginKind{
	"", tool.OriginModel, tool.OriginAgent, tool.OriginMCP, tool.OriginPlugin, tool.OriginScript, tool.OriginCLI, tool.OriginHook, tool.OriginTerminal,
	"made up",
}

// spellings are ways to write a name that is not that name.
func spellings(name string) []string {
	return []string{
		strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], " " + name, name + " ", name + "\n", "\t" + name, name + "\x00", "\u00a0" + name,
		"\ufeff" + name, name + "\u200b", name[:1] + "\u200d" + name[1:], strings.Replace(name, "e", "\u0435", 1), strings.Replace(name, "_", "\uff3f", 1),
		strings.Replace(name, "_", "-", 1), strings.ReplaceAll(name, "_", ""), "functions." + name, "handrail/" + name, "mcp__handrail__" + name,
		name + "*", "*", "group:fs", "effect:write", name + "?", name + "()", "./" + name, name + "/../" + name, "`" + name + "`", `"` + name + `"`, "",
	}
}

// TestNoSpellingGetsRoundAPolicy tries every name of denied tools, and
// everything that looks like one, from every origin and through every face.
func TestNoSpellingGetsRoundAPolicy(t *testing.T) {
	for _, origin := range origins {
		for _, surface := range []string{"", "claude"} {
			t.Run(fmt.Sprintf("%q %q", origin, surface), func(t *testing.T) {
				dir := tree(t, map[string]string{"a.txt": "a\n"})
				var ran atomic.Int32
				danger := fake{spec: tool.Spec{Name: "danger_tool", Aliases: []string{"dangerous", "Risk"}, Effects: tool.Read},
					run: func(context.Context, *tool.Call) (*tool.Result, error) { ran.Add(1); return tool.Text("ran"), nil }}
				s := open(t, handrail.Options{
					Workspace: dir, Surface: surface, Origin: tool.Origin{Kind: origin}, Tools: []tool.Tool{danger},
					Policy:     handrail.Policy{Deny: []string{"effect:write", "Risk"}},
					Permission: handrail.Permission{Mode: handrail.FullAccess}, Guard: handrail.GuardOff,
				})
				client := dial(t, s)
				try := func(name, args string) {
					t.Helper()
					call := handrail.Call{Tool: name, Args: json.RawMessage(args)}
					if r := s.Run(t.Context(), call)[0]; r.Code != tool.CodeDenied && r.Code != tool.CodeUnknownTool {
						t.Errorf("%q runs: %q %s", name, r.Code, r.Text)
					}
					if e := s.Explain(t.Context(), call); e.Outcome != handrail.Deny || e.Code != tool.CodeDenied && e.Code != tool.CodeUnknownTool {
						t.Errorf("%q is explained as %s %q", name, e.Outcome, e.Code)
					}
					if code, text := callMCP(client, name, args); code != string(tool.CodeDenied) && code != string(tool.CodeUnknownTool) {
						t.Errorf("%q runs over MCP: %q %s", name, code, text)
					}
				}
				for _, real := range []string{"danger_tool", "dangerous", "Risk", "write_file", "edit_file", "Write", "Edit"} {
					args := `{"path":"a.txt","file_path":"a.txt","content":"pwned","old_string":"a","new_string":"pwned"}`
					if strings.ContainsAny(real[:1], "dR") {
						args = `{"n":1}`
					}
					try(real, args)
					if origin != "" {
						continue // a spelling knows nothing of origins
					}
					for _, name := range spellings(real) {
						try(name, args)
					}
				}
				if got := content(t, dir, "a.txt"); got != "a\n" || ran.Load() != 0 {
					t.Errorf("the file holds %q, the denied tool ran %d times", got, ran.Load())
				}
			})
		}
	}
}

// A tool cannot be registered under a name that only looks like another.
func TestNoLookAlikeCanBeRegistered(t *testing.T) {
	s := open(t, handrail.Options{Workspace: t.TempDir()})
	for _, name := range append(spellings("read_file"), "read_file") {
		switch name {
		case "READ_FILE", "Read_file", "read-file", "readfile", "mcp__handrail__read_file":
			continue // another name, plainly
		}
		if err := s.Add(named(name, tool.Read)); err == nil {
			t.Errorf("a tool called %q was added", name)
		}
		aliased := fake{spec: tool.Spec{Name: "other", Aliases: []string{name}, Effects: tool.Read}}
		if err := s.Add(aliased); err == nil {
			t.Errorf("a tool with the alias %q was added", name)
		}
	}
}

// TestRulesKnowEveryName: a permission rule or a policy entry may use any
// name of a tool and covers it under all of them.
func TestRulesKnowEveryName(t *testing.T) {
	for _, surface := range []string{"", "claude"} {
		for _, written := range []string{"write_file", "Write"} {
			if written == "Write" && surface == "" {
				continue
			}
			for _, gate := range []string{"policy", "permission"} {
				t.Run(surface+" "+gate+" "+written, func(t *testing.T) {
					o := handrail.Options{Workspace: t.TempDir(), Surface: surface, Permission: handrail.Permission{Mode: handrail.FullAccess}}
					if gate == "policy" {
						o.Policy.Deny = []string{written}
					} else {
						o.Permission.Deny = []string{written}
					}
					s := open(t, o)
					for _, name := range []string{"write_file", "Write"} {
						if r := run(s, name, `{"file_path":"a","path":"a","content":"x"}`); r.Code != tool.CodeDenied && r.Code != tool.CodeUnknownTool && r.Code != tool.CodeInvalidInput {
							t.Errorf("%s: %q", name, r.Code)
						}
					}
					for name, args := range map[string]string{"write_file": `{"path":"a","content":"x"}`, "Write": `{"file_path":"a","content":"x"}`} {
						if r := run(s, name, args); r.OK {
							t.Errorf("%s wrote", name)
						}
					}
				})
			}
		}
	}
}

// TestDuplicateKeys: what a rule judges and what a tool takes must be the
// same value, so a key that stands twice is refused, by every face.
func TestDuplicateKeys(t *testing.T) {
	dir := tree(t, map[string]string{"secret/a.txt": "a\n", "open/a.txt": "a\n"})
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.FullAccess, Deny: []string{"write_file(secret/**)"}}})
	client := dial(t, s)
	for _, args := range []string{
		`{"path":"open/a.txt","content":"x","path":"secret/a.txt"}`,
		`{"path":"secret/a.txt","content":"x","path":"open/a.txt"}`,
		`{"path":"open/a.txt","content":"x","file_path":"secret/a.txt"}`,
		`{"path":"open/a.txt","content":"x","Path":"secret/a.txt"}`,
		`{"path":"open/a.txt","content":"x","p\u0061th":"secret/a.txt"}`,
	} {
		if r := run(s, "write_file", args); r.Code != tool.CodeInvalidInput {
			t.Errorf("%s: %q %s", args, r.Code, r.Text)
		}
		if e := s.Explain(t.Context(), handrail.Call{Tool: "write_file", Args: json.RawMessage(args)}); e.Code != tool.CodeInvalidInput {
			t.Errorf("%s is explained as %q", args, e.Code)
		}
		if code, _ := callMCP(client, "write_file", args); code == "" {
			t.Errorf("%s runs over MCP", args)
		}
	}
	if content(t, dir, "secret/a.txt")+content(t, dir, "open/a.txt") != "a\na\n" {
		t.Error("a file was changed")
	}
}

// TestHookCannotRewriteIntoADeniedPath: rewritten arguments are decoded,
// assessed and judged like any others, whatever the hook says beside them.
func TestHookCannotRewriteIntoADeniedPath(t *testing.T) {
	dir := tree(t, map[string]string{"secret/a.txt": "a\n", ".git/config": "a\n"})
	var rewrite string
	s := open(t, handrail.Options{
		Workspace:  dir,
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Approval: handrail.Never, Deny: []string{"write_file(secret/**)"}},
		Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) {
			return handrail.HookAnswer{Args: json.RawMessage(rewrite)}, nil
		}}},
		Guard: handrail.GuardOff,
	})
	for _, path := range []string{"secret/a.txt", "./secret/../secret/a.txt", ".git/config", ".GIT/config", "../outside", "/etc/handrail-test", ".ssh/id_rsa"} {
		rewrite = fmt.Sprintf(`{"path":%q,"content":"pwned"}`, path)
		if r := run(s, "write_file", `{"path":"ok.txt","content":"x"}`); r.Code != tool.CodeDenied {
			t.Errorf("rewritten to %s: %q %s", path, r.Code, r.Text)
		}
	}
	for _, bad := range []string{`{"path":"a","content":"x","path":"secret/a.txt"}`, `{`, `[]`, `{"path":5}`, `{"path":"` + strings.Repeat("x", tool.MaxArgs) + `"}`} {
		rewrite = bad
		if r := run(s, "write_file", `{"path":"ok.txt","content":"x"}`); r.OK {
			t.Errorf("rewritten to %.60s: it ran", bad)
		}
	}
	if content(t, dir, "secret/a.txt")+content(t, dir, ".git/config") != "a\na\n" {
		t.Error("a closed file was changed")
	}
}

// TestLyingAssessment: a tool that tells of less than it does gets past the
// rules, which judge what is told; the workspace holds all the same.
func TestLyingAssessment(t *testing.T) {
	outside := t.TempDir()
	dir := tree(t, map[string]string{".git/hooks/pre-commit": "a\n", ".ssh/config": "a\n", ".handrail/x": "a\n", "kept/a": "a\n"})
	for name, target := range map[string]string{"dir-link": outside, "link": filepath.Join(outside, "f"), "git-link": ".git"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"../x", "/etc/handrail-test", filepath.Join(outside, "f"), "dir-link/f", "link", "git-link/config", ".git/hooks/pre-commit", ".GIT/hooks/pre-commit",
		".git./config", ".ssh/config", ".handrail/x", "kept/a", "a/../../x", "a\x00b", "",
	} {
		s := open(t, handrail.Options{
			Workspace: dir, Permission: handrail.Permission{Mode: handrail.FullAccess}, Files: handrail.WorkspaceOptions{Protected: []string{"kept"}},
			Tools: []tool.Tool{writes(path, tool.Act{Effects: tool.Read, Reads: []string{"harmless.txt"}})},
		})
		if r := run(s, "writes", `{}`); r.OK {
			t.Errorf("it wrote %q", path)
		}
	}
	for _, kept := range []string{".git/hooks/pre-commit", ".ssh/config", ".handrail/x", "kept/a"} {
		if got := content(t, dir, kept); got != "a\n" {
			t.Errorf("%s holds %q", kept, got)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there are %v, %v", left, err)
	}
}

// TestCancelledAtEachStep: whoever gives up while a call is at some step
// gets one result, and the call does nothing further.
func TestCancelledAtEachStep(t *testing.T) {
	for _, at := range []string{"before", "hook", "assess", "approver", "run", "event"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked, ran, finished atomic.Int32
			stop := func(here string) {
				if here == at {
					cancel()
				}
			}
			s := open(t, handrail.Options{
				Tools: []tool.Tool{fake{
					spec: tool.Spec{Name: "x", Effects: tool.Exec},
					assess: func(*tool.Call) (tool.Act, error) {
						stop("assess")
						return tool.Act{}, ctx.Err()
					},
					run: func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
						ran.Add(1)
						stop("run")
						<-ctx.Done()
						return nil, ctx.Err()
					},
				}},
				Hooks: []handrail.Hook{{Event: handrail.PreToolUse, Func: func(context.Context, handrail.HookInput) (handrail.HookAnswer, error) {
					stop("hook")
					return handrail.HookAnswer{}, nil
				}}},
				Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
					asked.Add(1)
					stop("approver")
					return handrail.ApprovalAnswer{Allow: true, Digest: r.Digest}, nil
				},
				OnEvent: func(e handrail.Event) {
					if e.Phase == handrail.PhaseFinished {
						finished.Add(1)
					}
					if e.Phase == handrail.PhaseStarted {
						stop("event")
					}
				},
				Timeout: time.Minute,
			})
			stop("before")
			r := s.Run(ctx, handrail.Call{Tool: "x"}, handrail.Call{Tool: "x"}, handrail.Call{Tool: "nope"})
			if r[0].Code != tool.CodeCancelled || r[1].Code != tool.CodeCancelled || r[2].Code != tool.CodeUnknownTool {
				t.Errorf("codes %q %q %q: %s", r[0].Code, r[1].Code, r[2].Code, r[0].Text)
			}
			order := map[string]int{"before": 0, "hook": 1, "assess": 2, "approver": 3, "event": 4, "run": 4}
			if n := asked.Load(); n > 2 || n > 0 && order[at] < 3 {
				t.Errorf("a person was asked %d times", n)
			}
			if n := ran.Load(); n > 1 || n > 0 && order[at] < 4 {
				t.Errorf("the tool ran %d times", n)
			}
			if finished.Load() != 3 {
				t.Errorf("%d calls were reported finished", finished.Load())
			}
		})
	}
}

// TestAllowCoversWhereAPathLeads: an allow rule for a folder allows what
// lies in it, not what only seems to.
func TestAllowCoversWhereAPathLeads(t *testing.T) {
	dir := tree(t, map[string]string{"src/a.go": "a\n", "secret/k": "k\n", "srcs/b.go": "b\n"})
	for name, target := range map[string]string{"src/out": "../secret", "src/k": "../secret/k", "in": "src"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Allow: []string{"write_file(src/**)"}}, Guard: handrail.GuardOff})
	for path, want := range map[string]tool.Code{
		"src/a.go": "", "src/new/b.go": "", "in/c.go": "", "./src/d.go": "", filepath.Join(dir, "src/e.go"): "",
		"src/out/new": tool.CodeApprovalRequired, "src/k": tool.CodeApprovalRequired, "src/../secret/k": tool.CodeApprovalRequired,
		"srcs/b.go": tool.CodeApprovalRequired, "SRC/x.go": tool.CodeApprovalRequired, "secret/k": tool.CodeApprovalRequired,
		"src/../../outside": tool.CodeDenied, "src/x\x00/../../secret/k": tool.CodeInvalidInput,
	} {
		args, err := json.Marshal(map[string]string{"path": path, "content": "x\n"})
		if err != nil {
			t.Fatal(err)
		}
		if r := run(s, "write_file", string(args)); r.Code != want {
			t.Errorf("%q: %q, want %q: %s", path, r.Code, want, r.Text)
		}
	}
	if content(t, dir, "secret/k") != "k\n" || content(t, dir, "srcs/b.go") != "b\n" {
		t.Error("a file that no rule allows was changed")
	}
}

// L3: a name is bounded wherever it is echoed or kept.
func TestL3_AGiantToolName(t *testing.T) {
	var told handrail.Event
	s := open(t, handrail.Options{Tools: []tool.Tool{named("x", tool.Read)}, OnEvent: func(e handrail.Event) { told = e }})
	giant := strings.Repeat("read_file", 100_000)
	if r := run(s, giant, `{}`); r.Code != tool.CodeUnknownTool || len(r.Text) > tool.MaxErrorText {
		t.Errorf("%q with %d bytes", r.Code, len(r.Text))
	}
	if len(told.Asked) > tool.MaxEcho {
		t.Errorf("the event carries %d bytes of it", len(told.Asked))
	}
	log, err := s.Log(t.Context(), handrail.LogFilter{})
	if err != nil || len(log.Events) != 1 || len(log.Events[0].Asked) > tool.MaxEcho {
		t.Errorf("the log: %v", err)
	}
}
