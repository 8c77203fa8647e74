package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHooksThatFail is the one table of what goes wrong with a hook: each
// refuses before a call and is passed over where the hook says so. Only an
// answer decides.
func TestHooksThatFail(t *testing.T) {
	for _, c := range []struct {
		name, command string
		answers       bool // its exit code cannot be told from an answer
		reason        string
	}{
		{"F086 stopped at its time limit", "sleep 20; exit 2", false, "no answer within"},
		{"F087 no such program", "no-such-bin x", false, "was not found"},
		{"F087 no such script", "./gone.sh", false, "was not found"},
		{"F087 a file that may not be run", "./plain.sh", false, "cannot be run"},
		{"F087 no such script for an interpreter", "python3 /no/file.py", true, "/no/file.py"},
		{"F087 no JSON", `echo '{"decision": deny}'`, false, "it is not JSON"},
		{"F087 exit 1", "exit 1", false, "exit code 1"},
		{"F087 killed", "kill -KILL $$", false, "signal 9"},
		{"F087 exit 2 is an answer", "echo not today >&2; exit 2", true, "not today"},
		{"F087 a refusal is an answer", `echo '{"decision":"block","reason":"not today"}'`, true, "not today"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, failure := range []OnFailure{"", Block, Continue} {
				root := realDir(t)
				if err := os.WriteFile(filepath.Join(root, "plain.sh"), []byte("exit 0\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				limit := time.Minute // which a busy machine may need
				if strings.HasPrefix(c.name, "F086") {
					limit = time.Second
				}
				r, seen := runner(t, Config{Base: Base{Root: root}, Hooks: []Hook{{Event: PreToolUse, Command: c.command, Timeout: limit, OnFailure: failure}}})
				o := r.Run(t.Context(), bash("ls"))
				if failure == Continue && !c.answers {
					if o.Verdict != Pass {
						t.Errorf("on failure %q: %+v", failure, o)
					}
				} else if o.Verdict != Deny || !strings.Contains(o.Reason, c.reason) || !strings.Contains(o.By, c.command[:4]) {
					t.Errorf("on failure %q: %+v; want %q", failure, o, c.reason)
				}
				if failed := len(seen.all) == 1 && strings.Contains(seen.all[0].Failure, c.reason); failed == c.answers {
					t.Errorf("on failure %q: reported as %+v", failure, seen.all)
				}
			}
		})
	}
}
