package process

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	f := open(t)
	table := NewTable()
	t.Cleanup(func() { _ = table.Close() })
	add := func(text string) *Entry {
		e, err := table.Add(start(t, f, script(text)), "shell", text, Place{Fence: f})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first, second := add("sleep 60"), add("echo x")
	if first.ID < firstID || first.ID > lastID || first.ID == second.ID {
		t.Errorf("ids %d and %d", first.ID, second.ID)
	}
	if e := table.Find("shell", "echo x"); e != second {
		t.Errorf("found %v", e)
	}

	t.Run("one talks at a time", func(t *testing.T) {
		_, done, err := table.Talk(t.Context(), first.ID)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, _, err := table.Talk(ctx, first.ID); err == nil {
			t.Error("two talk at once")
		}
		if _, other, err := table.Talk(t.Context(), second.ID); err != nil {
			t.Errorf("another command waits too: %v", err)
		} else {
			other()
		}
		done()
		if _, done, err := table.Talk(t.Context(), first.ID); err != nil {
			t.Error(err)
		} else {
			done()
		}
	})
	t.Run("nobody asks about it", func(t *testing.T) {
		table.endIdle(time.Now().Add(-time.Hour))
		if len(table.List()) != 2 {
			t.Error("one was ended that was used")
		}
		table.endIdle(time.Now().Add(time.Hour))
		if _, _, err := table.Talk(t.Context(), first.ID); err == nil || !strings.Contains(err.Error(), "nobody asked about it for 30m") {
			t.Errorf("%v", err)
		}
		if first.Left() {
			t.Error("it still runs")
		}
	})
	t.Run("an id is not used again", func(t *testing.T) {
		var ids []int
		for range maxGone + 10 {
			e := add("true")
			if slices.Contains(ids, e.ID) {
				t.Fatalf("%d was given twice", e.ID)
			}
			ids = append(ids, e.ID)
			table.Remove(e, "over")
		}
		if len(table.gone) > maxGone {
			t.Errorf("%d are remembered", len(table.gone))
		}
	})
	third := add("sleep 60")
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	if third.Left() {
		t.Error("it outlived its table")
	}
	if _, err := table.Add(start(t, f, script("true")), "shell", "true", Place{}); err != ErrTableClosed {
		t.Errorf("%v", err)
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	from := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=de_DE.UTF-8", "SECRET_THING=s", "npm_config_cache=/c", "ld_preload=x", "LD_LIBRARY_PATH=/x", "GOPROXY=https://u:p@host",
		"OTHER=o", "CARGO_HOME=/cargo", "PYTHONPATH=/p", "BASH_FUNC_x%%=() { :; }", "KEYBOARD=k", "=odd", "AWS_ACCESS_KEY_ID=a", "MONKEY=m", "GIT_DIR=/g",
	}
	env, withheld := Environment{From: from, Pass: []string{"OTHER", "LD_LIBRARY_PATH", "AWS_ACCESS_KEY_ID"}, Set: []string{"X=1", "PATH=/mine"}}.Build(false)
	for _, want := range []string{"PATH=/mine", "HOME=/h", "LC_ALL=de_DE.UTF-8", "npm_config_cache=/c", "OTHER=o", "CARGO_HOME=/cargo", "X=1", "AWS_ACCESS_KEY_ID=a", "TERM=dumb", "PAGER=cat"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"SECRET_THING", "ld_preload", "LD_LIBRARY_PATH", "GOPROXY", "PYTHONPATH", "BASH_FUNC_x%%", "MONKEY", "KEYBOARD", "GIT_DIR", "LANG"}, name) {
			t.Errorf("%s is passed on", kv)
		}
	}
	if got := strings.Join(withheld, " "); got != "BASH_FUNC_x%% GIT_DIR GOPROXY LD_LIBRARY_PATH PYTHONPATH SECRET_THING ld_preload" {
		t.Errorf("withheld %q", got)
	}
	for _, c := range []struct {
		from        []string
		interactive bool
		has, hasNot []string
	}{
		{[]string{}, true, []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "PAGER=cat"}, []string{"NO_COLOR=1", "GIT_EDITOR=true"}},
		{[]string{"LANG=C"}, false, []string{"TERM=dumb", "NO_COLOR=1", "LC_ALL=C.UTF-8", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0"}, nil},
		{[]string{"LANG=de_DE.UTF-8", "LC_ALL=POSIX"}, false, []string{"LC_ALL=C.UTF-8"}, []string{"LC_ALL=POSIX"}},
		{[]string{"LC_CTYPE=en_US.UTF-8"}, false, []string{"LC_CTYPE=en_US.UTF-8"}, []string{"LC_ALL=C.UTF-8"}},
		{[]string{"LANG=ja_JP.UTF-8", "TERM=xterm", "PAGER=less", "GIT_EDITOR=vim"}, false, []string{"LANG=ja_JP.UTF-8", "TERM=dumb", "PAGER=cat", "GIT_EDITOR=true"}, []string{"LC_ALL=C.UTF-8"}},
	} {
		env, _ := (Environment{From: c.from}).Build(c.interactive)
		for _, kv := range c.has {
			if !slices.Contains(env, kv) {
				t.Errorf("%q, interactive %v: %s is missing in %q", c.from, c.interactive, kv, env)
			}
		}
		for _, kv := range c.hasNot {
			if slices.Contains(env, kv) {
				t.Errorf("%q, interactive %v: %s is in %q", c.from, c.interactive, kv, env)
			}
		}
	}
	for name, secret := range map[string]bool{"API_KEY": true, "OPENAI_API_KEY": true, "MYTOKEN": false, "MY_TOKEN": true, "KEYBOARD": false, "PATH": false, "DB_PASSWORD": true, "XAUTHORITY": false, "apikey2": true} {
		if IsSecretName(name) != secret {
			t.Errorf("%s: %v", name, !secret)
		}
	}
}

func TestHeadTail(t *testing.T) {
	for _, sizes := range [][]int{{1}, {7}, {3, 50, 1}, {100}, {10, 10, 10}, {10, 11}, {25, 1, 1, 1}} {
		b := headTail{headMax: 10, tailMax: 10}
		var all strings.Builder
		for i, n := range sizes {
			piece := strings.Repeat(string(rune('a'+i)), n)
			all.WriteString(piece)
			b.write([]byte(piece))
		}
		text := all.String()
		for _, n := range []int{0, 1, 5, 10} {
			if got := b.last(n); got != text[max(0, len(text)-n):] {
				t.Errorf("%v: the last %d are %q of %q", sizes, n, got, text)
			}
		}
		got := b.text()
		if len(text) <= 20 {
			if got != text || b.omitted() != 0 {
				t.Errorf("%v: %q, want %q", sizes, got, text)
			}
			continue
		}
		if !strings.HasPrefix(got, text[:10]+"\n[") || !strings.HasSuffix(got, "]\n"+text[len(text)-10:]) || b.omitted() != int64(len(text)-20) || b.len() != int64(len(text)) {
			t.Errorf("%v: %q, %d omitted", sizes, got, b.omitted())
		}
	}
	b := headTail{headMax: 5, tailMax: 5}
	b.write([]byte("ääääääää"))
	if got := b.text(); strings.ContainsRune(got, '\uFFFD') || !strings.HasPrefix(got, "ää\n[") {
		t.Errorf("%q", got)
	}
}
