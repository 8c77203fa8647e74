package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/handrail-tools/handrail/internal/permission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// open opens a queue, as one process.
func open(t *testing.T, dir string) *Queue {
	t.Helper()
	q, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}

// asking is a question that waits in a queue.
type asking struct {
	answer permission.Answer
	err    error
	done   chan struct{}
	stop   context.CancelCauseFunc
}

func putIn(t *testing.T, q *Queue, r permission.Request) *asking {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	a := &asking{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(a.done)
		a.answer, a.err = q.Ask(ctx, r)
	}()
	t.Cleanup(func() { stop(nil); <-a.done })
	return a
}

func (a *asking) wait(t *testing.T) (permission.Answer, error) {
	t.Helper()
	select {
	case <-a.done:
	case <-time.After(patience):
		t.Fatal("the question is not answered")
	}
	return a.answer, a.err
}

// waits reports whether the question still stands after a few looks.
func (a *asking) waits() bool {
	select {
	case <-a.done:
		return false
	case <-time.After(2 * pollEvery):
		return true
	}
}

// thrownAway waits until the asker has looked at an answer and it is gone.
func thrownAway(t *testing.T, name string) bool {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	t.Fatal("nobody looks at the answer")
	return false
}

// standing waits until n questions stand and returns them.
func standing(t *testing.T, q *Queue, n int) []Question {
	t.Helper()
	var list []Question
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var err error
		if list, _, err = q.Standing(); err != nil {
			t.Fatal(err)
		} else if len(list) == n {
			return list
		}
	}
	t.Fatalf("%d questions stand, want %d", len(list), n)
	return nil
}

func TestQueueAnswers(t *testing.T) {
	for _, c := range []struct {
		reply Reply
		want  permission.Answer
	}{
		{Reply{Word: WordOnce}, permission.Answer{Allow: true}},
		{Reply{Word: WordSession, Seconds: 60}, permission.Answer{Allow: true, Scope: permission.ForSession, For: time.Minute}},
		{Reply{Word: WordAlways}, permission.Answer{Allow: true, Scope: permission.ForAlways}},
		{Reply{Word: WordNo, Reason: "not today"}, permission.Answer{Reason: "not today"}},
		{Reply{Word: WordEdit, Arguments: `{"command":"pwd"}`}, permission.Answer{Args: []byte(`{"command":"pwd"}`)}},
	} {
		t.Run(c.reply.Word, func(t *testing.T) {
			dir := t.TempDir()
			a := putIn(t, open(t, dir), request("d"))
			desk := open(t, dir)
			q := standing(t, desk, 1)[0]
			if q.Tool != "shell" || q.Command != "ls" || q.Arguments != `{"command":"ls"}` || q.Digest != "d" {
				t.Errorf("%+v", q)
			}
			if err := desk.Reply(q, c.reply); err != nil {
				t.Fatal(err)
			}
			got, err := a.wait(t)
			c.want.Digest, c.want.By = "d", "queue"
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
			// It is over: the same answer again is to nothing.
			if err := desk.Reply(q, c.reply); !errors.Is(err, ErrGone) {
				t.Errorf("a second time: %v", err)
			}
			standing(t, desk, 0)
		})
	}
}

func TestQueueRefusesAnswersThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	a := putIn(t, open(t, dir), request("d"))
	desk := open(t, dir)
	q := standing(t, desk, 1)[0]
	for _, p := range []Reply{{}, {Word: "yes"}, {Word: WordAlways, Offer: 1}, {Word: WordAlways, Offer: -1}, {Word: WordEdit, Arguments: "{"}, {Word: WordSession, Seconds: -1}} {
		if err := desk.Reply(q, p); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	if !a.waits() {
		t.Error("the question no longer stands")
	}
}

// TestQueueTwoAnswerAtOnce: one of many answers counts, and only who gave it is told so.
func TestQueueTwoAnswerAtOnce(t *testing.T) {
	dir := t.TempDir()
	a := putIn(t, open(t, dir), request("d"))
	q := standing(t, open(t, dir), 1)[0]
	var taken atomic.Int32
	var by atomic.Value
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			desk, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = desk.Close() }()
			who := fmt.Sprint(i)
			if err := desk.Reply(q, Reply{Word: []string{WordOnce, WordNo}[i%2], By: who}); err == nil {
				taken.Add(1)
				by.Store("queue: " + who)
			} else if !errors.Is(err, ErrGone) && !errors.Is(err, ErrTaken) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := a.wait(t)
	if err != nil || taken.Load() != 1 || got.By != by.Load() {
		t.Errorf("%+v, %v; %d were told that they counted, the last of them %v", got, err, taken.Load(), by.Load())
	}
}

// TestQueueOutlivesTheAnsweringSide: who answers may have been started anew,
// and who asked may not.
func TestQueueOutlivesTheAnsweringSide(t *testing.T) {
	dir := t.TempDir()
	asker := open(t, dir)
	a := putIn(t, asker, request("d"))
	for range 3 { // each a process that comes and goes
		desk, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		standing(t, desk, 1)
		if err := desk.Close(); err != nil {
			t.Fatal(err)
		}
	}
	desk := open(t, dir)
	q := standing(t, desk, 1)[0]
	// The asker goes as a process does that is killed: its files stay, its lock
	// does not.
	kept := keep(t, dir)
	if err := asker.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.wait(t); err == nil {
		t.Error("the question is answered by the end of its asker")
	}
	kept(t)
	if err := desk.Reply(q, Reply{Word: WordOnce}); !errors.Is(err, ErrGone) {
		t.Errorf("a question without an asker is answered: %v", err)
	}
	standing(t, desk, 0)
	for _, name := range files(t, dir) {
		if name != lockName {
			t.Errorf("%s is left", name)
		}
	}
	// Another asker's question is another one, with the same words.
	b := putIn(t, open(t, dir), request("d"))
	other := standing(t, desk, 1)[0]
	if other.ID == q.ID {
		t.Error("two questions have one name")
	}
	if err := desk.Reply(q, Reply{Word: WordOnce}); !errors.Is(err, ErrGone) || !b.waits() {
		t.Errorf("a yes to the old question answers the new one: %v", err)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// keep remembers the files of a queue and returns what puts them back.
func keep(t *testing.T, dir string) func(*testing.T) {
	t.Helper()
	content := map[string][]byte{}
	for _, name := range files(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, folder, name))
		if err != nil {
			t.Fatal(err)
		}
		content[name] = data
	}
	return func(t *testing.T) {
		t.Helper()
		for name, data := range content {
			if err := os.WriteFile(filepath.Join(dir, folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestQueueTampering writes into the folder what nobody has asked or answered.
func TestQueueTampering(t *testing.T) {
	dir := t.TempDir()
	asker := open(t, dir)
	a := putIn(t, asker, request("d"))
	desk := open(t, dir)
	q := standing(t, desk, 1)[0]
	at := func(name string) string { return filepath.Join(dir, folder, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reply := func(p Reply) string {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, text := range map[string]string{
		"empty":                 "",
		"cut":                   reply(Reply{ID: q.ID, Digest: q.Digest, Word: WordOnce})[:20],
		"no JSON":               "yes",
		"of another question":   reply(Reply{ID: "aaaaaaaaaaaaaaaa", Digest: q.Digest, Word: WordOnce}),
		"to another act":        reply(Reply{ID: q.ID, Digest: "e", Word: WordOnce}),
		"without a word":        reply(Reply{ID: q.ID, Digest: q.Digest}),
		"a rule nobody offered": reply(Reply{ID: q.ID, Digest: q.Digest, Word: WordAlways, Offer: 7}),
		"a key nobody knows":    strings.Replace(reply(Reply{ID: q.ID, Digest: q.Digest, Word: WordOnce}), "{", `{"rule":"shell",`, 1),
		"two answers":           reply(Reply{ID: q.ID, Digest: q.Digest, Word: WordNo}) + reply(Reply{ID: q.ID, Digest: q.Digest, Word: WordOnce}),
		"endless":               `{"id":"` + strings.Repeat("a", maxReply),
	} {
		put(q.ID+replyEnd, text)
		if !thrownAway(t, at(q.ID+replyEnd)) || !a.waits() {
			t.Fatalf("%s: the question is answered: %+v, %v", name, a.answer, a.err)
		}
	}
	outside := filepath.Join(t.TempDir(), "yes.json")
	if err := os.WriteFile(outside, []byte(reply(Reply{ID: q.ID, Digest: q.Digest, Word: WordOnce})), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, at(q.ID+replyEnd)); err != nil {
		t.Fatal(err)
	}
	if !thrownAway(t, at(q.ID+replyEnd)) || !a.waits() {
		t.Fatal("an answer counts that is a link")
	}
	// A person who is shown another text than was asked can say yes to
	// nothing: the name of a question is made of its text.
	whole, err := os.ReadFile(at(q.ID + askEnd))
	if err != nil {
		t.Fatal(err)
	}
	put(q.ID+askEnd, strings.Replace(string(whole), `"runs": "ls"`, `"runs": "true"`, 1))
	if list, spoilt, err := desk.Standing(); err != nil || len(list) != 0 || len(spoilt) != 1 {
		t.Errorf("a changed question is shown: %+v, %v, %v", list, spoilt, err)
	}
	if err := desk.Reply(q, Reply{Word: WordOnce}); !errors.Is(err, ErrGone) {
		t.Errorf("a question that is gone is answered: %v", err)
	}
	a.stop(permission.ErrAnswered)
	if _, err := a.wait(t); !errors.Is(err, permission.ErrAnswered) {
		t.Error(err)
	}
}

// TestQueueWithForeignFiles: what is no question is none, and does not keep
// the others from being answered.
func TestQueueWithForeignFiles(t *testing.T) {
	dir := t.TempDir()
	a := putIn(t, open(t, dir), request("d"))
	desk := open(t, dir)
	q := standing(t, desk, 1)[0]
	for name, text := range map[string]string{
		"README": "hello", "aaaaaaaaaaaaaaaa" + askEnd: `{"tool":"shell"}`, "..x" + askEnd: "{}", "aaaaaaaaaaaaaaaa" + replyEnd: "{}",
		"bbbbbbbbbbbbbbbb" + ownerEnd: "", "left" + tempEnd: "{",
	} {
		if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, folder, "cccccccccccccccc"+askEnd), 0o700); err != nil {
		t.Fatal(err)
	}
	if list, _, err := desk.Standing(); err != nil || len(list) != 1 || list[0].ID != q.ID {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := desk.Reply(q, Reply{Word: WordOnce}); err != nil {
		t.Fatal(err)
	}
	if got, err := a.wait(t); err != nil || !got.Allow {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestQueueFolderIsOursAlone(t *testing.T) {
	dir := t.TempDir()
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, folder)); err != nil {
		t.Fatal(err)
	}
	if q, err := Open(dir); err == nil {
		_ = q.Close()
		t.Error("a queue behind a link is opened")
	}
	dir = t.TempDir()
	asker := open(t, dir)
	putIn(t, asker, request("d"))
	q := standing(t, asker, 1)[0]
	for name, want := range map[string]os.FileMode{"": 0o700, q.ID + askEnd: 0o600} {
		info, err := os.Stat(filepath.Join(asker.Path(), name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestQueueExpires(t *testing.T) {
	dir := t.TempDir()
	r := request("d")
	r.Expires = time.Now().Add(300 * time.Millisecond)
	ctx, cancel := context.WithDeadlineCause(t.Context(), r.Expires, permission.ErrExpired)
	defer cancel()
	desk := open(t, dir)
	asker := open(t, dir)
	done := make(chan error, 1)
	go func() { _, err := asker.Ask(ctx, r); done <- err }()
	q := standing(t, desk, 1)[0]
	if err := <-done; !errors.Is(err, permission.ErrExpired) {
		t.Error(err)
	}
	if err := desk.Reply(q, Reply{Word: WordOnce}); !errors.Is(err, ErrGone) {
		t.Errorf("an answer that comes too late: %v", err)
	}
}

// TestQueueThousandPending: every question gets its own answer, and only once.
func TestQueueThousandPending(t *testing.T) {
	const n = 1000
	dir := t.TempDir()
	asker := open(t, dir)
	var wrong, got atomic.Int32
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r := request(fmt.Sprint(i))
			answer, err := asker.Ask(t.Context(), r)
			got.Add(1)
			if err != nil || answer.Digest != r.Digest || answer.Allow != (i%2 == 0) {
				wrong.Add(1)
			}
		})
	}
	desk := open(t, dir)
	start := time.Now()
	for asked := 0; asked < n; time.Sleep(10 * time.Millisecond) {
		asker.mu.Lock()
		asked = len(asker.waiting)
		asker.mu.Unlock()
	}
	list := standing(t, desk, n)
	listed := time.Since(start)
	for _, q := range list {
		word := WordNo
		if (q.Digest[len(q.Digest)-1]-'0')%2 == 0 {
			word = WordOnce
		}
		if err := desk.Reply(q, Reply{Word: word}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if wrong.Load() != 0 || got.Load() != n {
		t.Errorf("%d of %d answers are wrong", wrong.Load(), got.Load())
	}
	t.Logf("%d stood after %v, all answered after %v", n, listed, time.Since(start))
}

func TestQueueThatIsClosed(t *testing.T) {
	q := open(t, t.TempDir())
	if err := errors.Join(q.Close(), q.Close()); err != nil {
		t.Error(err)
	}
	if _, err := q.Ask(t.Context(), request("d")); err == nil {
		t.Error("a closed queue asks")
	}
}

// FuzzReply: no text is a yes that is not one.
func FuzzReply(f *testing.F) {
	q := Question{ID: "aaaaaaaaaaaaaaaa", Digest: "d", Editable: true, Offers: []permission.Offer{{Rules: []string{"r"}}}}
	f.Add([]byte(`{"id":"aaaaaaaaaaaaaaaa","digest":"d","answer":"once"}`))
	f.Add([]byte(`{"id":"aaaaaaaaaaaaaaaa","digest":"e","answer":"once"}`))
	f.Add([]byte(`{"ID":"aaaaaaaaaaaaaaaa","digest":"d","answer":"edit","arguments":"{}"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var p Reply
		if strict(text, &p) != nil || p.check(q) != nil {
			return
		}
		a := p.answer(permission.Request{Digest: "d"})
		if a.Allow && (p.Digest != "d" || p.ID != q.ID || p.Word != WordOnce && p.Word != WordSession && p.Word != WordAlways) {
			t.Errorf("%q is a yes: %+v", text, a)
		}
		if a.Args != nil && a.Allow {
			t.Errorf("%q is a yes to what nobody has seen", text)
		}
	})
}
