//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/permission"
)

// screen is a terminal with a program at it, seen from the person's side.
type screen struct {
	t      *testing.T
	keys   *os.File
	exit   chan int
	mu     sync.Mutex
	shown  bytes.Buffer
	passed int // how much of shown was expected already
}

// sit runs a command line at a new terminal.
func sit(ctx context.Context, t *testing.T, args ...string) *screen {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	keys, tty := openPTY(t)
	s := &screen{t: t, keys: keys, exit: make(chan int, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := keys.Read(buf)
			s.mu.Lock()
			s.shown.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		s.exit <- run(ctx, &terminal{
			in: tty, out: tty, err: tty, inTTY: true, outTTY: true, errTTY: true, color: true,
			flush: func() { flushInput(tty) },
		}, args)
	}()
	t.Cleanup(func() {
		_ = keys.Close()
		<-read
		_ = tty.Close()
	})
	return s
}

// openPTY returns both ends of a new terminal.
func openPTY(t *testing.T) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Fd would make the file block, and a blocked read cannot be closed.
	raw, err := keys.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return keys, tty
}

// expect waits until text is shown, behind what was expected before.
func (s *screen) expect(text string) {
	s.t.Helper()
	s.expectAny(text)
}

// expectAny waits for one of several texts and returns which it was.
func (s *screen) expectAny(texts ...string) int {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		for i, text := range texts {
			if s.passes(text) {
				return i
			}
		}
	}
	s.t.Fatalf("none of %q is shown:\n%q", texts, s.text())
	return -1
}

func (s *screen) passes(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := strings.Index(s.shown.String()[s.passed:], text)
	if i < 0 {
		return false
	}
	s.passed += i + len(text)
	return true
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program and requires its exit code.
func (s *screen) ends(want int) {
	s.t.Helper()
	select {
	case got := <-s.exit:
		if got != want {
			s.t.Errorf("the exit code is %d, want %d:\n%s", got, want, s.text())
		}
	case <-time.After(patience):
		s.t.Fatalf("the program does not end:\n%s", s.text())
	}
}

const question = "Allow it? "

func writeCall(dir, path, content string) []string {
	quoted, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return []string{"call", "write_file", fmt.Sprintf(`{"path":%q,"content":%s}`, path, quoted), "--mode", "read-only", "-w", dir}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func TestApprove(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		code         int
		written      bool
	}{
		{"once", "o\n", exitOK, true},
		{"yes", "YES\n", exitOK, true},
		{"deny", "d\n", exitDenied, false},
		{"no answer is no", "\n", exitDenied, false},
		{"end of input is no", "\x04", exitDenied, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := sit(t.Context(), t, writeCall(dir, "a.txt", "x")...)
			s.expect("write_file")
			s.expect(`arguments  {"path":"a.txt","content":"x"}`)
			s.expect("writes     a.txt")
			s.expect("asked by   mode read-only")
			s.expect(question)
			s.press(tt.answer)
			s.ends(tt.code)
			if exists(dir, "a.txt") != tt.written {
				t.Errorf("written: %v, want %v", !tt.written, tt.written)
			}
		})
	}
}

func TestApproveAsksAgainAfterAWordThatIsNoAnswer(t *testing.T) {
	dir := t.TempDir()
	s := sit(t.Context(), t, writeCall(dir, "a.txt", "x")...)
	s.expect(question)
	s.press("perhaps\n")
	s.expect(question)
	s.press("o\n")
	s.ends(exitOK)
}

// TestApproveSession gives a word for the session: it counts for the same
// act again, and for no other.
func TestApproveSession(t *testing.T) {
	dir := t.TempDir()
	batch := filepath.Join(t.TempDir(), "batch.jsonl")
	lines := ""
	for _, name := range []string{"d.txt", "d.txt", "e.txt"} {
		lines += fmt.Sprintf(`{"tool": "write_file", "args": {"path": %q, "content": "x"}}`+"\n", name)
	}
	if err := os.WriteFile(batch, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	s := sit(t.Context(), t, "batch", batch, "--mode", "read-only", "-w", dir)
	// The questions of a batch come in any order.
	for range 2 {
		if s.expectAny("writes     d.txt", "writes     e.txt") == 0 {
			s.expect(question)
			s.press("s\n")
		} else {
			s.expect(question)
			s.press("d\n")
		}
	}
	s.ends(exitDenied)
	if got := strings.Count(s.text(), question); got != 2 {
		t.Errorf("%d questions, want 2", got)
	}
	if !exists(dir, "d.txt") || exists(dir, "e.txt") {
		t.Error("the answers were not kept to their acts")
	}
}

// person answers each question with the next of the answers.
type person struct {
	keys    io.Writer
	answers []string
	asked   int
}

func (p *person) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte(question)) {
		answer := p.answers[p.asked]
		p.asked++
		go func() { _, _ = io.WriteString(p.keys, answer) }()
	}
	return len(text), nil
}

// TestApproveSessionIsForTheFilesThatWereMeant asks twice with the same
// arguments, which mean another file the second time.
func TestApproveSessionIsForTheFilesThatWereMeant(t *testing.T) {
	for _, tt := range []struct {
		name   string
		second permission.Act
		asked  int
	}{
		{"the same", permission.Act{Reads: []string{"r"}, Writes: []string{"a"}}, 1},
		{"another file is written", permission.Act{Reads: []string{"r"}, Writes: []string{"b"}}, 2},
		{"another file is read", permission.Act{Reads: []string{"s"}, Writes: []string{"a"}}, 2},
		{"a file is written that was read", permission.Act{Writes: []string{"r", "a"}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, keys := io.Pipe()
			defer func() { _ = keys.Close() }()
			person := &person{keys: keys, answers: []string{"s\n", "d\n"}}
			term := &terminal{in: in, err: person, inTTY: true, errTTY: true}
			ask := term.approver(term.newProgress())
			request := handrail.ApprovalRequest{Tool: "write_file", Args: []byte(`{}`), Digest: "d", Act: permission.Act{Reads: []string{"r"}, Writes: []string{"a"}}}
			if answer, err := ask(t.Context(), request); err != nil || !answer.Allow || answer.Scope != handrail.ForSession {
				t.Fatalf("%+v, %v", answer, err)
			}
			request.Act = tt.second
			answer, err := ask(t.Context(), request)
			if err != nil || answer.Allow != (tt.asked == 1) || person.asked != tt.asked {
				t.Errorf("%+v, %v after %d questions", answer, err, person.asked)
			}
		})
	}
}

// TestApproveHidesNoArguments gives arguments of which the telling part
// stands at the end.
func TestApproveHidesNoArguments(t *testing.T) {
	for _, tt := range []struct {
		name string
		size int
		cut  bool
	}{{"shown whole", maxShown - 200, false}, {"cut", maxShown * 2, true}} {
		t.Run(tt.name, func(t *testing.T) {
			s := sit(t.Context(), t, writeCall(t.TempDir(), "a.txt", strings.Repeat("x", tt.size)+"\x1bthe-end")...)
			if tt.cut {
				s.expect("bytes more, not shown]")
				s.expect(question)
				s.expect("[v]iew the whole, [o]nce")
				if strings.Contains(s.text(), "the-end") {
					t.Error("the whole is shown at once")
				}
				s.press("v\n")
			}
			s.expect("the-end")
			s.expect(question)
			s.press("d\n")
			s.ends(exitDenied)
			if shown := s.text(); strings.Contains(shown, "\x1bthe-end") || strings.Contains(shown, "not shown]") != tt.cut {
				t.Errorf("%q", shown[max(0, len(shown)-400):])
			}
		})
	}
}

// paper is written on by several at once.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// TestApproveForgetsWhatWasTypedBefore types a yes ahead of the question.
func TestApproveForgetsWhatWasTypedBefore(t *testing.T) {
	dir := t.TempDir()
	keys, tty := openPTY(t)
	defer func() { _, _ = keys.Close(), tty.Close() }()
	if _, err := keys.WriteString("o\n"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var shown paper // a question may be written until its asker has seen the end
	code := run(ctx, &terminal{
		in: tty, out: &shown, err: &shown, inTTY: true, errTTY: true, flush: func() { flushInput(tty) },
	}, writeCall(dir, "a.txt", "x"))
	if code == exitOK || exists(dir, "a.txt") || !strings.Contains(shown.String(), question) {
		t.Errorf("exit code %d after:\n%s", code, shown.String())
	}
}

// TestApproveShowsArgumentsThatCannotSteer gives arguments that would clear
// the screen, forge a line, and reorder text.
func TestApproveShowsArgumentsThatCannotSteer(t *testing.T) {
	s := sit(t.Context(), t, writeCall(t.TempDir(), "a.txt", "\x1b[2Jgone\n  writes     harmless.txt\u202e")...)
	s.expect(question)
	s.press("d\n")
	s.ends(exitDenied)
	if shown := s.text(); strings.Contains(shown, "\x1b[2J") || strings.Contains(shown, "\u202e") || strings.Contains(shown, "\n  writes     harmless") {
		t.Errorf("the question can be steered:\n%q", shown)
	}
}

// TestCancelWhileAsked withdraws the call; its result is still printed.
func TestCancelWhileAsked(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := sit(ctx, t, append(writeCall(dir, "g.txt", "x"), "--json")...)
	s.expect(question)
	cancel()
	s.expect(`"code":"cancelled"`)
	s.ends(exitStopped)
	if exists(dir, "g.txt") {
		t.Error("the call ran")
	}
}
