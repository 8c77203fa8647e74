package handrail_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/tool"
)

// withCommands opens a session whose commands run in a fence.
func withCommands(t testing.TB, o handrail.Options) *handrail.Session {
	t.Helper()
	if o.Workspace == "" {
		o.Workspace = t.TempDir()
	}
	if o.Permission.Mode == "" {
		o.Permission.Mode = handrail.WorkspaceWrite
	}
	s, err := handrail.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

type obj = map[string]any

func order(t testing.TB, s *handrail.Session, name string, args obj) *tool.Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(context.Background(), handrail.Call{Tool: name, Args: raw})[0]
}

func TestModesAndCommands(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	command := obj{"command": "echo in > in.txt; echo out > " + outside + "; cat in.txt"}
	for _, c := range []struct {
		name    string
		options handrail.Options
		code    tool.Code
		in, out bool // what is there afterwards
	}{
		{"read-only lets none run", handrail.Options{Permission: handrail.Permission{Mode: handrail.ReadOnly}}, tool.CodeApprovalRequired, false, false},
		{"workspace-write lets them run behind the fence", handrail.Options{}, "", true, false},
		{"full-access lets them run free", handrail.Options{Permission: handrail.Permission{Mode: handrail.FullAccess}}, "", true, true},
		{"without a fence a person is asked", handrail.Options{Commands: handrail.CommandOptions{Fence: handrail.FenceNone}}, tool.CodeApprovalRequired, false, false},
		{"a rule denies", handrail.Options{Permission: handrail.Permission{Deny: []string{"shell"}}}, tool.CodeDenied, false, false},
		{"there are none", handrail.Options{Commands: handrail.CommandOptions{Off: true}}, tool.CodeUnknownTool, false, false},
		{"F103 a fence that cannot be had", handrail.Options{Commands: handrail.CommandOptions{Fence: "seatbelt"}}, tool.CodeFailed, false, false},
		{"a person lets it run in a session that reads", handrail.Options{Permission: handrail.Permission{Mode: handrail.ReadOnly}, Approver: yes}, tool.CodeSandboxDenied, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Workspace = t.TempDir()
			s := withCommands(t, c.options)
			r := order(t, s, "shell", command)
			if r.Code != c.code {
				t.Errorf("%q: %s", r.Code, r.Text)
			}
			_, inErr := os.Stat(filepath.Join(c.options.Workspace, "in.txt"))
			_, outErr := os.Stat(outside)
			if (inErr == nil) != c.in || (outErr == nil) != c.out {
				t.Errorf("inside %v, outside %v: %s", inErr, outErr, r.Text)
			}
			_ = os.Remove(outside)
		})
	}
}

func yes(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
	return handrail.ApprovalAnswer{Digest: r.Digest, Allow: true}, nil
}

// TestUnfenced: outside of the fence nothing runs without a person's word,
// whatever the rules allow.
func TestUnfenced(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	call := obj{"command": "echo out > " + outside, "unfenced": true, "justification": "the test wants it"}
	s := withCommands(t, handrail.Options{Permission: handrail.Permission{Allow: []string{"shell"}}})
	if r := order(t, s, "shell", call); r.Code != tool.CodeApprovalRequired {
		t.Errorf("%q: %s", r.Code, r.Text)
	}
	var asked []string
	s = withCommands(t, handrail.Options{Approver: func(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
		asked = append(asked, r.Summary)
		return yes(ctx, r)
	}})
	if r := order(t, s, "shell", obj{"command": "echo in"}); !r.OK || len(asked) != 0 {
		t.Errorf("asked %q: %s", asked, r.Text)
	}
	if r := order(t, s, "shell", call); !r.OK {
		t.Errorf("%q: %s", r.Code, r.Text)
	}
	if _, err := os.Stat(outside); err != nil || len(asked) != 1 || !strings.Contains(asked[0], "OUTSIDE OF THE FENCE") || !strings.Contains(asked[0], "the test wants it") {
		t.Errorf("%v, asked %q", err, asked)
	}
}

// TestTypingOutsideOfTheFence: what is typed into a command that a person let
// out is asked about too; to read what it says, or to end it, is not.
func TestTypingOutsideOfTheFence(t *testing.T) {
	var asked []string
	s := withCommands(t, handrail.Options{Approver: func(ctx context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
		asked = append(asked, r.Summary)
		if len(asked) > 1 {
			return handrail.ApprovalAnswer{Digest: r.Digest}, nil
		}
		return yes(ctx, r)
	}})
	outside := filepath.Join(t.TempDir(), "outside")
	r := order(t, s, "exec_command", obj{"cmd": "bash", "stdin": true, "yield_time_ms": 50, "unfenced": true, "justification": "a test"})
	id := r.Metadata["session_id"]
	if r := order(t, s, "write_stdin", obj{"session_id": id, "chars": "echo x > " + outside + "\n"}); r.Code != tool.CodeApprovalDenied {
		t.Errorf("%q: %s", r.Code, r.Text)
	}
	if r := order(t, s, "write_stdin", obj{"session_id": id, "yield_time_ms": 50}); !r.OK {
		t.Errorf("%s", r.Text)
	}
	if r := order(t, s, "write_stdin", obj{"session_id": id, "end": true}); !r.OK || len(asked) != 2 {
		t.Errorf("asked %q: %s", asked, r.Text)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("what was typed was run")
	}
	if text := fmt.Sprint(s.Explain(context.Background(), handrail.Call{Tool: "shell", Args: []byte(`{"command":"ls"}`)})); !strings.Contains(text, "held by the fence") {
		t.Errorf("%s", text)
	}
}

// TestL53_CommandsAreUndone: what a command changed is in the history like the
// change of any tool.
func TestL53_CommandsAreUndone(t *testing.T) {
	s := withCommands(t, handrail.Options{})
	order(t, s, "write_file", obj{"path": "a.txt", "content": "by a tool\n"})
	r := order(t, s, "shell", obj{"command": "sed -i s/tool/command/ a.txt; mkdir d; echo n > d/new"})
	if got := strings.Join(r.Changed, " "); got != "a.txt d/new" {
		t.Fatalf("changed %q: %s", got, r.Text)
	}
	if r := order(t, s, "undo", obj{}); !r.OK || !strings.Contains(r.Text, "shell") {
		t.Fatal(r.Text)
	}
	if r := order(t, s, "shell", obj{"command": "cat a.txt; ls d"}); !strings.Contains(r.Text, "by a tool\n") || strings.Contains(r.Text, "new") {
		t.Errorf("%s", r.Text)
	}
	r = order(t, s, "run_code", obj{"language": "sh", "code": "echo more >> a.txt"})
	if !r.OK || len(r.Changed) != 1 {
		t.Errorf("%v: %s", r.Changed, r.Text)
	}
	if r := order(t, s, "undo", obj{}); !r.OK || !strings.Contains(r.Text, "run_code") {
		t.Error(r.Text)
	}
}

func TestShellWritesPolicy(t *testing.T) {
	s := withCommands(t, handrail.Options{
		Policy:           handrail.Policy{ShellWrites: policy.ShellWritesWarn},
		PolicyByProvider: map[string]handrail.Policy{"p": {ShellWrites: policy.ShellWritesDeny}}, Provider: "p",
	})
	for _, c := range []struct {
		tool string
		args obj
	}{{"shell", obj{"command": "echo x > f"}}, {"bash", obj{"cmd": "echo x > f"}}, {"exec_command", obj{"cmd": "echo x > f"}}, {"run_code", obj{"language": "sh", "code": "echo x > f"}}} {
		if r := order(t, s, c.tool, c.args); r.Code != tool.CodeDenied {
			t.Errorf("%s: %q: %s", c.tool, r.Code, r.Text)
		}
	}
}

// TestF058_ChildrenHaveTheirOwn: neither the folder nor the running commands
// of one session are another's.
func TestF058_ChildrenHaveTheirOwn(t *testing.T) {
	s := withCommands(t, handrail.Options{})
	order(t, s, "shell", obj{"command": "mkdir -p one two"})
	var children []*handrail.Session
	for _, dir := range []string{"one", "two"} {
		c, err := s.Child(context.Background(), handrail.ChildOptions{Workspace: dir})
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	var wg sync.WaitGroup
	for i, c := range children {
		wg.Go(func() {
			for n := range 5 {
				r := order(t, c, "shell", obj{"command": fmt.Sprintf("cd /tmp; cd - >/dev/null; pwd; : %d", n)})
				if want := []string{"/one\n", "/two\n"}[i]; !strings.Contains(r.Text, want) {
					t.Errorf("%s", r.Text)
				}
			}
		})
	}
	wg.Wait()
	r := order(t, s, "exec_command", obj{"cmd": "sleep 100", "yield_time_ms": 10})
	id := r.Metadata["session_id"]
	if r := order(t, children[0], "write_stdin", obj{"session_id": id, "end": true}); r.OK || !strings.Contains(r.Text, "no command") {
		t.Errorf("a child reaches its parent's command: %s", r.Text)
	}
	if r := order(t, children[0], "shell", obj{"command": "echo x > ../two/f"}); r.OK {
		t.Errorf("a child writes beside its folder: %q %s", r.Code, r.Text)
	}
	bound, err := s.Child(context.Background(), handrail.ChildOptions{Writable: []string{"one/*"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := order(t, bound, "shell", obj{"command": "echo x > two/f"}); r.OK {
		t.Errorf("a command steps around a write fence: %s", r.Text)
	}
}

// TestSessionCloseEndsCommands: nothing outlives its owner.
func TestSessionCloseEndsCommands(t *testing.T) {
	for _, mode := range []handrail.Mode{handrail.WorkspaceWrite, handrail.FullAccess} {
		s := withCommands(t, handrail.Options{Permission: handrail.Permission{Mode: mode}})
		order(t, s, "shell", obj{"command": "setsid sleep 8181 & (sleep 8182 &) ; sleep 8183 & echo"})
		order(t, s, "exec_command", obj{"cmd": "trap '' TERM HUP; sleep 8184; sleep 8185", "tty": true, "yield_time_ms": 100})
		order(t, s, "run_code", obj{"language": "sh", "code": "sleep 8186 &"})
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if out, _ := exec.Command("pgrep", "-fa", "^sleep 818[1-6]$").Output(); len(out) > 0 {
			t.Errorf("%s: left:\n%s", mode, out)
		}
	}
}

// TestBuildToolsHaveACache: a build works behind the fence, twice, and neither
// reads nor changes the cache that the person builds with.
func TestBuildToolsHaveACache(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("GOCACHE", filepath.Join(home, "mine")) // not to be written, and not there to be read
	t.Setenv("GOFLAGS", "-mod=mod")
	dir := tree(t, map[string]string{"go.mod": "module x\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() { println(6 * 7) }\n"})
	for _, mode := range []handrail.Mode{handrail.WorkspaceWrite, handrail.WorkspaceWrite, handrail.ReadOnly} {
		s := withCommands(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: mode, Allow: []string{"shell"}}})
		r := order(t, s, "shell", obj{"command": "go run . && go env GOCACHE && npm config get cache", "timeout_secs": 300})
		if where := map[bool]string{true: home + "/cache/handrail/commands/", false: "/tmp/go-build\n/tmp/npm"}[mode == handrail.WorkspaceWrite]; !strings.Contains(r.Text, "42\n"+where) {
			t.Errorf("%s: %s", mode, r.Text)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(home, "mine")); err == nil {
		t.Errorf("the person's cache holds %v", left)
	}
	s := withCommands(t, handrail.Options{Workspace: dir, Commands: handrail.CommandOptions{Set: []string{"GOCACHE=/tmp/chosen"}}})
	if r := order(t, s, "shell", obj{"command": "echo $GOCACHE"}); !strings.Contains(r.Text, "/tmp/chosen\n") {
		t.Errorf("what the operator has set: %s", r.Text)
	}
	hidden := withCommands(t, handrail.Options{Workspace: dir, Files: handrail.WorkspaceOptions{Closed: []string{home}}})
	if r := order(t, hidden, "shell", obj{"command": "echo fine"}); !r.OK {
		t.Errorf("the folder of caches is closed: %s", r.Text)
	}
}

// TestWarm: the fence is there before the first command, is built once, and
// goes with the session, whenever that is closed.
func TestWarm(t *testing.T) {
	fences := func() int {
		out, _ := exec.Command("pgrep", "-c", "-P", strconv.Itoa(os.Getpid()), "-f", "^handrail-fence").Output() // status 1: none
		n, _ := strconv.Atoi(strings.TrimSpace(string(out)))
		return n
	}
	s := withCommands(t, handrail.Options{})
	if n := fences(); n != 0 {
		t.Fatalf("%d fences before anything was asked for", n)
	}
	for range 3 {
		s.Warm()
	}
	for until := time.Now().Add(20 * time.Second); fences() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("no fence was built")
		}
	}
	if r := order(t, s, "shell", obj{"command": "true"}); !r.OK || fences() != 1 {
		t.Errorf("%d fences: %s", fences(), r.Text)
	}
	if err := s.Close(); err != nil || fences() != 0 {
		t.Errorf("closed: %v, %d fences", err, fences())
	}
	s.Warm()
	for range 20 {
		s := withCommands(t, handrail.Options{})
		s.Warm()
		if err := s.Close(); err != nil || fences() != 0 {
			t.Fatalf("closed at once: %v, %d fences", err, fences())
		}
	}
	open(t, handrail.Options{Workspace: t.TempDir(), Commands: handrail.CommandOptions{Off: true}}).Warm()
}

// TestLongOutputIsRecalled: the whole of what a command said can be had.
func TestLongOutputIsRecalled(t *testing.T) {
	s := withCommands(t, handrail.Options{})
	r := order(t, s, "shell", obj{"command": "seq 1 300000"})
	m := regexp.MustCompile(`is kept as the result (r_\w+)`).FindStringSubmatch(r.Text)
	if m == nil {
		t.Fatalf("%s", r.Text[max(0, len(r.Text)-500):])
	}
	if r := order(t, s, "recall", obj{"id": m[1], "start_line": 150_000, "max_lines": 1}); !strings.Contains(r.Text, "150000") {
		t.Errorf("%s", r.Text)
	}
}

// TestL51_FormattersAfterAnEdit: the edit and what the formatter made of it
// are one change.
func TestL51_FormattersAfterAnEdit(t *testing.T) {
	s := withCommands(t, handrail.Options{Commands: handrail.CommandOptions{Formatters: map[string][]string{".txt": {"sed", "-i", "s/a/A/g"}, ".bad": {"false"}}}})
	order(t, s, "write_file", obj{"path": "other.txt.keep", "content": "a\n"})
	r := order(t, s, "write_file", obj{"path": "f.txt", "content": "banana\n"})
	if !r.OK || !strings.Contains(r.Text, "Formatted by sed: f.txt") {
		t.Errorf("%s", r.Text)
	}
	if r := order(t, s, "read_file", obj{"path": "f.txt"}); !strings.Contains(r.Text, "bAnAnA") {
		t.Errorf("%s", r.Text)
	}
	if r := order(t, s, "write_file", obj{"path": "f.bad", "content": "x\n"}); !r.OK || !strings.Contains(r.Text, "was not formatted by false") {
		t.Errorf("an edit failed with its formatter: %s", r.Text)
	}
	order(t, s, "undo", obj{})
	if r := order(t, s, "undo", obj{}); !r.OK {
		t.Errorf("%s", r.Text)
	}
	if r := order(t, s, "glob", obj{"pattern": "f.*"}); strings.Contains(r.Text, "f.txt") {
		t.Errorf("the edit and its formatting were not one change: %s", r.Text)
	}
}

// TestCommandsBesideEdits: a background command's changes are told apart from
// those of tools.
func TestCommandsBesideEdits(t *testing.T) {
	s := withCommands(t, handrail.Options{})
	r := order(t, s, "shell", obj{"command": "while :; do date +%N > clock; sleep 0.05; done", "background": true})
	id := r.Metadata["session_id"]
	time.Sleep(200 * time.Millisecond)
	order(t, s, "write_file", obj{"path": "mine", "content": "x\n"})
	r = order(t, s, "write_stdin", obj{"session_id": id, "yield_time_ms": 100})
	if got := strings.Join(r.Changed, " "); got != "clock" {
		t.Errorf("changed %q: %s", got, r.Text)
	}
}

// TestSecretsAreHiddenFromCommands: what read_file may not read, cat may not.
func TestSecretsAreHiddenFromCommands(t *testing.T) {
	home, dir, state := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, path := range []string{home + "/.ssh/id_rsa", home + "/.aws/credentials", dir + "/id_ed25519", dir + "/plain"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("the content of it"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := withCommands(t, handrail.Options{Workspace: dir, StateDir: state})
	r := order(t, s, "shell", obj{"command": "cat ~/.ssh/id_rsa ~/.aws/credentials id_ed25519; ls -R " + state})
	if strings.Contains(r.Text, "the content of it") {
		t.Errorf("%s", r.Text)
	}
	if r := order(t, s, "shell", obj{"command": "cat plain"}); !strings.Contains(r.Text, "the content of it") {
		t.Errorf("%s", r.Text)
	}
}

// TestSecretsAreHiddenWhereverTheyLie: a folder with the signs of patterns in
// its name, a file deep in it, and more matches than anybody would read.
func TestSecretsAreHiddenWhereverTheyLie(t *testing.T) {
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "[id]")
	t.Setenv("HOME", home)
	paths := []string{home + "/.vault-token", dir + "/.env", dir + "/packages/api/.env", dir + "/conf/top.key"}
	for i := range 300 {
		paths = append(paths, fmt.Sprintf("%s/decoys/%d.key", dir, i))
	}
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("the content of it"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := withCommands(t, handrail.Options{Workspace: dir, Files: handrail.WorkspaceOptions{Unreadable: []string{"*.key", ".env", ".vault-token"}}})
	r := order(t, s, "shell", obj{"command": "cat ~/.vault-token; cat .env; cat packages/api/.env; cat decoys/*.key conf/*"})
	if strings.Contains(r.Text, "the content of it") {
		t.Errorf("%.500s", r.Text)
	}
}

// TestHosts: what no list allows is asked about, once, and refused where
// nobody can be asked.
func TestHosts(t *testing.T) {
	fetch := obj{"command": "python3 - <<'E'\nimport urllib.request\ntry: urllib.request.urlopen('http://example.invalid/')\nexcept Exception as e: print('said:', getattr(e,'code',''), e)\nE"}
	s := withCommands(t, handrail.Options{Commands: handrail.CommandOptions{AllowHosts: []string{"allowed.invalid"}}})
	if r := order(t, s, "shell", fetch); !strings.Contains(r.Text, "said: 403") {
		t.Errorf("%s", r.Text)
	}
	var asked []string
	s = withCommands(t, handrail.Options{
		Commands: handrail.CommandOptions{Network: handrail.NetworkProxy},
		Approver: func(_ context.Context, r handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			asked = append(asked, r.Summary)
			return handrail.ApprovalAnswer{Digest: r.Digest}, nil
		},
	})
	for range 2 {
		if r := order(t, s, "shell", fetch); !strings.Contains(r.Text, "said: 403") {
			t.Errorf("%s", r.Text)
		}
		fetch["command"] = fetch["command"].(string) + "\n"
	}
	if len(asked) != 1 || asked[0] != "a command wants to reach example.invalid:80" {
		t.Errorf("asked %q", asked)
	}
	_, err := handrail.Open(context.Background(), handrail.Options{
		Workspace: t.TempDir(), Commands: handrail.CommandOptions{Network: handrail.NetworkOff, AllowHosts: []string{"x.example"}},
	})
	if err == nil || !strings.Contains(err.Error(), "hosts are listed") {
		t.Errorf("%v", err)
	}
}

func ExampleSession_commands() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := handrail.Open(context.Background(), handrail.Options{
		Workspace:  dir,
		Permission: handrail.Permission{Mode: handrail.WorkspaceWrite},
	})
	if err != nil {
		panic(err)
	}
	defer func() { _ = s.Close() }()
	r, err := s.CallJSON(context.Background(), "shell", map[string]any{"command": "echo hello > greeting; cat greeting"})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Text)
	// Output:
	// hello
	//
	// Exit code: 0
	// files_changed: 1
	//   greeting (created)
}
