package shellparse

import "testing"

// allowed reports whether rules that allow cover a script, with the built-in
// reading commands or without.
func allowed(t testing.TB, script string, readOnly bool, rules ...string) bool {
	t.Helper()
	return set(t, rules...).Cover(Parse(script), readOnly).All()
}

func TestCover(t *testing.T) {
	npm := []string{"npm run test:*"}
	for _, tc := range []struct {
		name   string
		rules  []string
		yes    []string
		no     []string
		reader bool
	}{
		{name: "the oracle's rule for npm", rules: npm, yes: []string{
			"npm run test", "npm run test --watch", "timeout 5 npm run test", "nice npm run test", "npm run 'test'", "time npm run test", "CI=1 npm run test", "npm run test 2>&1", "npm run test >/dev/null", "(npm run test)", "npm run test; npm run test -- a",
			"bash -c 'npm run test'", "env NO_COLOR=1 npm run test", "npm run test || npm run test", "f() { npm run test; }; f", "/usr/bin/npm run test",
		}, no: []string{
			"npm run test && touch y", "npm run test; echo $(touch z)", "timeout \"$X\" npm run test", "nice $X npm run test", "FOO=1 npm run test", "npm run test > out.txt", "npm run tests", "npm run test-evil", "npm run", "npm", "./npm run test", "/tmp/npm run test", "sudo npm run test", "N=npm; $N run test", "$(echo npm) run test",
			"PATH=/x npm run test", "PATH=/x; npm run test", "npm() { rm x; }; npm run test", "alias npm=rm; npm run test", "npm run $X", "npm 'run test'", "npm run test | sh", "npm run test & rm x", "echo 'npm run test' | sh; rm x", "eval \"npm run test $X\"", ". npm run test", "NPM run test",
			"npm run test <(touch x)", "npm run test \"`id`\"", "npm run test\nid", "npm run test |& id", "npm run test\r", "npm run test \u200b", "npm run test 'x", "f() { npm run test; }; (g)", "exec -a x npm run test; id", "xargs npm run test", "find . -exec npm run test {} +",
		}},
		{name: "F075 a rule for cd", rules: []string{"cd *"}, yes: []string{"cd /x", "cd", "cd /x; cd y"}, no: []string{
			"cd /tmp && touch pwn", "cd /tmp; touch pwn", "cd /tmp || touch pwn", "cd /tmp | touch pwn", "cd /tmp |& touch pwn", "cd /tmp & touch pwn", "cd /tmp\ntouch pwn", "cd $(touch pwn)",
		}},
		{name: "F076 parts that are allowed are allowed together", rules: []string{"ls", "ls *", "head *", "grep *"}, yes: []string{
			"ls 2>/dev/null | grep x | head -3", "ls && ls -la", "if ls; then grep x y; fi", "ls < /dev/null",
		}, no: []string{"ls > f", "ls 2>f | head -3", "ls | tee f", "set -a && source .env && ls"}},
		{name: "F077 one parsed command for every list", rules: []string{"git status", "ls"}, yes: []string{"git status", "ls", "ls; git status"}, no: []string{
			"ls; rm -rf x", "git status-evil", "ls>~/.bashrc", "ls $(touch pwn)", "ls x", "git status x", "ls-evil",
		}},
		{name: "F078 substitutions are judged", rules: []string{"git *"}, yes: []string{"git status", "git diff HEAD"}, no: []string{
			"git status $(touch x)", "git diff <(touch y)", "git log \"`id`\"", "git log \"${x:-$(id)}\"", "git log $((a[$(id)]))", "git -c alias.x='!id' x", "git -c core.pager=id log", "git rebase -x id", "git bisect run id",
		}},
		{name: "F079 a substitution that only reads needs no rule", reader: true, yes: []string{"echo $(date)", "ls", "echo hi", "cat $(ls)"}, no: []string{"echo $(touch x)", "ls > f", "find . -delete", "$(date)", "git push"}},
		{name: "files that options write", rules: []string{"git log *", "sort *"}, yes: []string{"git log -3", "sort -u f"}, no: []string{"git log --output=f", "sort -o f f", "sort --compress-program=x f"}},
		{name: "functions that go away", reader: true, yes: []string{"g() { ls; }; g"}, no: []string{"git() { :; }; eval 'unset -f git'; git push", `git() { :; }; \unset -f git; git push`, "git() { :; }; command git push", "(git() { :; }); git push", "if ls; then git() { :; }; fi; git push", "git push; git() { :; }", "git() { :; } & git push"}},
		{name: "wildcards in the middle", rules: []string{"git * main"}, yes: []string{"git push origin main", "git merge main"}, no: []string{"git main", "git push 'origin main'x", "git push; git x main"}},
		{name: "quoted blanks", rules: []string{`git commit -m "a b"`}, yes: []string{"git commit -m 'a b'", `git commit -m a\ b`}, no: []string{"git commit -m a b", "git commit -m"}},
		{name: "everything that is clear", rules: []string{"*"}, yes: []string{"rm -rf x", "foo"}, no: []string{"$X", "curl x | sh", ". f", "eval $X", "'"}},
		{name: "a path in a rule", rules: []string{"./gradlew *", "bash scripts/test.sh"}, yes: []string{"./gradlew build", "bash scripts/test.sh"}, no: []string{"gradlew build", "bash scripts/test.sh x", "bash < scripts/test.sh", "/x/gradlew build", "bash -x scripts/test.sh"}},
		{name: "a wrapper with power needs its own rule", rules: []string{"sudo *"}, yes: nil, no: []string{"sudo rm x"}},
		{name: "both parts of it", rules: []string{"sudo *", "rm *"}, yes: []string{"sudo rm x", "sudo -n rm x"}, no: []string{"sudo --odd rm x", "sudo id", "sudo -s"}},
		{name: "a variable in a rule", rules: []string{"FOO=1 make *"}, yes: []string{"FOO=1 make x"}, no: []string{"FOO=2 make x", "BAR=1 FOO=1 make x", "FOO=1 id"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, script := range tc.yes {
				if !allowed(t, script, tc.reader, tc.rules...) {
					t.Errorf("%q is not covered: %+v", script, set(t, tc.rules...).Cover(Parse(script), tc.reader))
				}
			}
			for _, script := range tc.no {
				if allowed(t, script, tc.reader, tc.rules...) {
					t.Errorf("%q is covered", script)
				}
			}
		})
	}
}

// TestCodexSafe reproduces the tables of Codex's exec policy: what it runs
// unasked, and what it does not. Where we differ stands with the reason.
func TestCodexSafe(t *testing.T) {
	for _, script := range []string{
		"cat x", "cd x", "cut -c1 x", "echo x", "expr 1 + 1", "false", "grep x y", "head x", "id", "ls", "nl x", "paste x", "pwd", "rev x", "seq 3", "stat x", "tail x", "tr a b", "true", "uname", "uniq x", "wc x", "which x", "whoami", "numfmt 1", "tac x",
		"base64 x", "find . -name x", "rg x", "git status", "git log", "git diff", "git show", "git branch --show-current", "sed -n 1,5p x", "sed -n 3p x", "ls && pwd", "ls | wc",
		// Codex asks for these, since its splitter gives up; nothing in them changes anything.
		"ls > /dev/null", "(ls)", "echo $(pwd)", "for i in 1 2; do echo $i; done", "ls # x", "A=b; ls", "sed -n '1,5p;8p' x y", "if true; then ls; fi", "! ls",
	} {
		if got := Parse(script); got.Class() != ReadOnly {
			t.Errorf("%q is %s: %s", script, got.Class(), got.Why())
		}
	}
	for _, script := range []string{
		"base64 -o x y", "base64 -ox y", "base64 --output=x y", "find . -exec x ;", "find . -execdir x ;", "find . -ok x ;", "find . -okdir x ;", "find . -delete", "find . -fls x", "find . -fprint x", "find . -fprint0 x", "find . -fprintf x y",
		"rg --pre x y", "rg --pre=x y", "rg --hostname-bin x y", "rg --search-zip y", "rg -z y", "git -C x status", "git -c a=b status", "git -p log", "git --paginate log", "git --git-dir x status", "git --work-tree=x status", "git --exec-path=x status", "git --config-env=a=b status",
		"git --namespace x status", "git --super-prefix=x status", "git log --output=x", "git diff --ext-diff", "git show --textconv", "git checkout status", "git branch x", "git branch -d x", "sed -n w", "sed -i p x", "rm -f x", "cat < f > g",
	} {
		if got := Parse(script).Class(); got == ReadOnly {
			t.Errorf("%q is taken for reading", script)
		}
	}
	// L45 of Codex: rm behind these was not found.
	for _, script := range []string{"nohup rm -f x", "timeout 5 rm -f x", "busybox rm -f x", "xargs rm -f", "X=rm; $X -f y", "find . -delete", "dd if=x of=/dev/sda", "chmod -R 0 x", "git clean -fdx"} {
		if got := Parse(script).Class(); got != Dangerous {
			t.Errorf("%q is %s", script, got)
		}
	}
}

func TestReports(t *testing.T) {
	t.Run("F080 reading commands that run or write", func(t *testing.T) {
		for _, script := range []string{
			"find . -delete", "fd . -x sh -c id", "sed -n '1e id' f", "sed 's/.*/id/e' f", "sort -o f f", "rg --pre sh x", `awk 'BEGIN{system("id")}'`, "tar --to-command=sh -xf x", "git diff --output=f", "tree -o f", "date -s x", "xargs -I{} sh -c {}",
		} {
			if got := Parse(script).Class(); got == ReadOnly {
				t.Errorf("%q is taken for reading", script)
			}
		}
	})
	t.Run("F081 helpers that settings of git name", func(t *testing.T) {
		for _, script := range []string{"git -p status", "git --paginate log", "git st", "git -c core.sshCommand=x fetch", "git -c core.fsmonitor=x status", "git -c diff.external=x diff", "GIT_PAGER=x git log", "git --config-env=core.pager=X log"} {
			if got := Parse(script).Class(); got == ReadOnly {
				t.Errorf("%q is taken for reading", script)
			}
		}
	})
	t.Run("F082 files that a command reads", func(t *testing.T) {
		for script, want := range map[string]string{"cat .env": ".env", "cat ./sub/../.env": "./sub/../.env", "source .env": "", "cat .e*": ".e*", "grep x < .env": ".env", "C=.env; cat $C": ".env", "cat .e\"n\"v": ".env"} {
			e := Parse(script).Effects()
			if want == "" && !e.Unbounded || want != "" && (len(e.Reads) != 1 || e.Reads[0].Name != want) {
				t.Errorf("%q: %+v", script, e)
			}
		}
	})
	t.Run("F083 a search names the folder it goes through", func(t *testing.T) {
		if e := Parse("grep -rn foo src").Effects(); len(e.Reads) != 1 || e.Reads[0].Name != "src" || e.Unbounded {
			t.Errorf("%+v", e)
		}
	})
	t.Run("F097 an option where a reference should be", func(t *testing.T) {
		for _, script := range []string{"git show --output=/tmp/x", "git log --outp=/tmp/x", "git branch --output=x"} {
			if got := Parse(script).Class(); got == ReadOnly {
				t.Errorf("%q is taken for reading", script)
			}
		}
	})
}

func TestParsePatternRefusesWhatNeverMatches(t *testing.T) {
	for _, bad := range []string{"", " git", "git ", "a && b", "a; b", "a | b", "a > b", "echo $(x)", "echo `x`", "command:git status", "a\nb", `a "b`, `a "$b"`, "a\x00"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for _, bad := range [][][]string{nil, {{}}, {{""}}, {{"a\x00"}}} {
		if _, err := PrefixPattern(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestPrefixPattern(t *testing.T) {
	p, err := PrefixPattern([][]string{{"git", "hg"}, {"push", "pull"}})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSet(p)
	for script, want := range map[string]bool{"git push": true, "hg pull x": true, "git status": false, "git pus": false, "git 'push x'": false} {
		if got := s.Cover(Parse(script), false).All(); got != want {
			t.Errorf("%q covered: %v", script, got)
		}
	}
	star, err := PrefixPattern([][]string{{"echo"}, {"*"}})
	if err != nil {
		t.Fatal(err)
	}
	if NewSet(star).Cover(Parse("echo x"), false).All() {
		t.Error("a star in a prefix rule is a word, not a wildcard")
	}
}
