//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/permission"
)

// unfenced writes settings with which a command runs without a fence, so that
// a person is asked about it on every machine, and returns the flags for it.
func unfenced(t *testing.T, dir string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(`{"commands": {"fence": "none"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config", file, "-w", dir}
}

// TestApproveEdit types another command in the place of the model's; the
// question comes again, about that one.
func TestApproveEdit(t *testing.T) {
	dir := t.TempDir()
	s := sit(t.Context(), t, append([]string{"call", "shell", `{"command":"touch wrong.txt","timeout_secs":30}`}, unfenced(t, dir)...)...)
	s.expect("runs       touch wrong.txt")
	s.expect("[e]dit the command, [d]eny [why]:")
	s.press("e\n")
	s.expect("Run this instead")
	s.press("\n") // which changes nothing
	s.expect(question)
	s.press("e\n")
	s.expect("Run this instead")
	s.press("touch right.txt\n")
	s.expect(`arguments  {"command":"touch right.txt","timeout_secs":30}`)
	s.expect("runs       touch right.txt")
	s.expect(question)
	s.press("o\n")
	s.ends(exitOK)
	if exists(dir, "wrong.txt") || !exists(dir, "right.txt") {
		t.Error("what ran is not what was approved")
	}
}

// TestApproveAlways shows the rule before it is written; the next program
// does not ask, and asks again once the rule was taken back.
func TestApproveAlways(t *testing.T) {
	dir := t.TempDir()
	s := sit(t.Context(), t, writeCall(dir, "a.txt", "x")...)
	s.expect("always     adds the rule write_file(/a.txt)")
	s.expect("[a]lways,")
	s.press("a b\n") // a yes has no more words
	s.expect(question)
	s.press("a2\n") // and no such rule was offered
	s.expect(question)
	s.press("a\n")
	s.ends(exitOK)
	if !exists(dir, "a.txt") {
		t.Error("it did not run")
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "handrail", "workspaces", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), `"rule": "write_file(/a.txt)"`) || !strings.Contains(string(text), dir) {
		t.Errorf("%s, %v", text, err)
	}
	line := func(args ...string) (int, string) {
		var out paper
		code := run(t.Context(), &terminal{in: strings.NewReader(""), out: &out, err: &out}, args)
		return code, out.String()
	}
	explain := []string{"explain", "write_file", `{"path":"a.txt","content":"y"}`, "--mode", "read-only", "-w", dir}
	if code, text := line(explain...); code != exitOK {
		t.Errorf("the rule does not hold: %s", text)
	}
	if code, text := line("grants", "revoke", "write_file(/a.txt)", "-w", dir); code != exitOK {
		t.Errorf("it is not taken back: %s", text)
	}
	if code, text := line(explain...); code != exitAsked {
		t.Errorf("it holds still: %s", text)
	}
}

func TestApproveDenyWithAReason(t *testing.T) {
	dir := t.TempDir()
	s := sit(t.Context(), t, append(writeCall(dir, "a.txt", "x"), "--json")...)
	s.expect(question)
	s.press("d use b.txt instead\n")
	s.expect("a person refused this call of write_file: use b.txt instead")
	s.ends(exitDenied)
}

// TestApproveWithdrawn: a question that was answered elsewhere says so and
// leaves the terminal.
func TestApproveWithdrawn(t *testing.T) {
	dir := t.TempDir()
	s := sit(t.Context(), t, append(writeCall(dir, "a.txt", "x"), "--queue")...)
	s.expect(question)
	var out paper
	term := &terminal{in: strings.NewReader(""), out: &out, err: &out}
	if code := run(t.Context(), term, []string{"approvals", "list", "--json"}); code != exitOK {
		t.Fatal(out.String())
	}
	id := strings.Split(strings.TrimPrefix(out.String(), `{"id":"`), `"`)[0]
	if code := run(t.Context(), term, []string{"approvals", "allow", id}); code != exitOK {
		t.Fatal(out.String())
	}
	s.expect("(answered elsewhere)")
	s.ends(exitOK)
	if !exists(dir, "a.txt") {
		t.Error("it did not run")
	}
}

// TestWordsThatAnswer: a word that could be taken for a yes and is none asks
// again; only a refusal may go on in words.
func TestWordsThatAnswer(t *testing.T) {
	one := []handrail.ApprovalOffer{{Rules: []string{"x(a)"}}}
	two := append(one, handrail.ApprovalOffer{Rules: []string{"x(b)"}})
	for _, c := range []struct {
		line   string
		offers []handrail.ApprovalOffer
		want   string // "" asks again
	}{
		{"o", nil, "once"}, {"YES", nil, "once"}, {"s", nil, "session"}, {"a", one, "always 0"}, {"always", one, "always 0"}, {"a2", two, "always 1"},
		{"a1", one, "always 0"}, {"always2", two, "always 1"}, {"d", nil, "no"}, {"n because", nil, "no"}, {"", nil, "no"}, {"  no  more ", nil, "no"},
		{"a", nil, ""}, {"a", two, ""}, {"a0", one, ""}, {"a-1", one, ""}, {"a3", two, ""}, {"always1x", one, ""}, {"yes but", nil, ""},
		{"s forever", nil, ""}, {"e", nil, ""}, {"oo", nil, ""}, {"ok", nil, ""},
	} {
		t.Run(fmt.Sprintf("%s of %d", c.line, len(c.offers)), func(t *testing.T) {
			a := &asker{t: &terminal{err: io.Discard}}
			answer := handrail.ApprovalAnswer{Digest: "d"}
			r := handrail.ApprovalRequest{Digest: "d", Offers: c.offers, Act: permission.Act{}}
			done, err := a.understand(t.Context(), r, c.line, &answer)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case done && !answer.Allow:
				got = "no"
			case done && answer.Scope == handrail.ForAlways:
				got = fmt.Sprint("always ", answer.Offer)
			case done:
				got = answer.Scope.String()
			case answer.Allow:
				got = "a yes that is not one"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
