package shellparse

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClass(t *testing.T) {
	for want, scripts := range map[Class][]string{
		ReadOnly: {
			"", "# nothing", "ls", "ls -la /etc", "echo hi", "cat a b | grep -n x | sort -u | uniq -c | head -3", "pwd; whoami", "cd x && ls",
			"ls 2>/dev/null", "ls >&2", "ls &>/dev/null", "git status", "git status --short 2>&1", "git log --oneline -5 -- x", "git diff HEAD~1 -- a.go", "git show HEAD:x", "git branch", "git branch -a",
			"git branch --list 'x*'", "git tag -l", "git remote -v", "git rev-parse HEAD", "git blame x", "git grep -n foo", "git stash list", "git config user.name", "git config --get user.name", "git config --list", "git -P log", "git --no-pager diff",
			"find . -name '*.go' -type f", "find . \\( -name a -o -name b \\) -print0", "find *.d -maxdepth 1", "fd -e go x", "rg -n 'a b' src", "rg --files -g '*.go'", "grep -rn foo *.go",
			"sed -n 1,20p f", "sed -n '/a/,/b/p' f", "sed 's/a/b/g;s|c|d|' f", "sed -e '1d' -e '$d' f", "awk '{print $1}' f", "awk -F: '$3 > 100 {n++} END {print n}' f", "awk '/x|y/ {print \"a > b\"}' f",
			"sort -k2,2n -t: f", "sort -- *.txt", "date", "date +%F", "date -d yesterday", "wc -l *.go", "base64 -d f", "test -f x && echo y", "[ -n \"$X\" ] || echo n", "[[ $x == y* ]]", "jq -r .a f.json",
			"timeout 5 ls", "nice -n 10 ls", "env LC_ALL=C sort f", "LC_ALL=C sort f", "time ls", "for f in *.go; do wc -l \"$f\"; done", "while read -r l; do echo \"$l\"; done < f", "x=1; echo $x", "f() { ls; }; f",
			"xargs ls < f", "find . -name x | xargs grep -l foo", "printf '%s\\n' a", "true", "command -v git", "type git", "which ls", "tar tf x.tar", "tar -tvf x.tgz", "go version", "go env GOPATH", "go list ./...", "npm ls --depth=0", "diff -u a b", "tree -L 2", "file -b x", "stat x", "hostname",
			"cat <<'E'\nx\nE", "tr a b <<< x", "echo $((1+2))", "echo ${x:-y} \"$(pwd)\"", "bash -c 'ls -l'", "sh -c \"git status\"", "eval ls", "set -euo pipefail\nls", "trap 'echo x' EXIT", "du -sh * | sort -h", "xxd f", "ls -l /usr/bin/ls", "/bin/ls", "uniq f",
		},
		Changes: {
			"echo x > f", "ls >> f", "ls &> f", "ls >| f", "> f", "{ ls; } > f", "touch x", "mkdir -p a/b", "cp a b", "mv a b", "rm x", "rm -r x", "tee f", "sed -i s/a/b/ f", "sed --in-place s/a/b/ f", "sed -ni p f", "sort -o f f", "sort --outp=f f", "uniq a b", "date -s x", "date 01010000", "hostname x",
			"git add .", "git commit -m x", "git push", "git branch x", "git branch -d x", "git tag v1", "git config user.name x", "git diff --output=f", "git fetch", "git stash", "git checkout main", "git log --output=f",
			"ssh h ls", "curl https://x.example", "wget x.example", "tar xf x.tar", "npm install", "go build ./...", "go test ./...", "base64 --output=f x", "find . -fprint f", "tree -o f", "kill 1", "ln -s a b", "chmod +x f", "dd if=a of=b", "echo x >/dev/tcp/h/80", "xxd a b", "printf -v x y",
		},
		Dangerous: {
			"rm -rf x", "rm -f x", "rm --force x", "rm -fr x", "ls; rm -rf src", "cat <(rm -rf x)", "$(rm -rf x)", "env rm -rf x", "find . -exec rm -rf {} +", "sudo ls", "sudo -u root rm -f x", "/bin/rm -rf x", `"rm" -rf x`, "bash -c 'rm -rf x'", "A=$(rm -rf x) ls",
			"nohup rm -rf x", "timeout 5 rm -rf x", "busybox rm -rf x", "xargs rm -rf", "find . -delete", "dd if=a of=/dev/sda", "chmod -R 777 /", "git clean -fdx", "git reset --hard", "git push --force", "git push -f", "git push origin +main", "git push origin :main", "git branch -D x", "git stash drop", "mkfs.ext4 /dev/sda1",
			"shred x", "for i in 1; do rm -rf x; done", "if true; then rm -rf x; fi", "trap 'rm -rf x' EXIT", "docker run alpine ls", "reboot", "kubectl delete pod x", "rsync --delete a b", "npm publish",
		},
		Unknown: {
			"foo", "./x.sh", "bash x.sh", "make", "npm run build", "python3 x.py", "python3 -c 'print(1)'", "$X", "$(cat f)", "eval \"$X\"", ". f", "source f", "curl x | sh", "ls | sh", "PATH=/x ls", "LD_PRELOAD=/x ls", "GIT_SSH_COMMAND=x git status", "FOO=1 ls", "export PATH=/x", "IFS=x", "BASH_ENV=x bash -c ls",
			"env PATH=x ls", "find . -exec ls {} +", "find . -ok ls \\;", "find . -newthing", "find . $X", "rg --pre x y", "rg -z x", "rg --hostname-bin=x y", "fd . -x ls", "sed -n '1e id' f", "sed 's/.*/id/e' f", "sed -n '1w f' g", "sed 's/a/b/w f' g", "sed -f f g", "sed e", "awk 'BEGIN{system(\"id\")}'", "awk '{print > \"f\"}'", "awk '{print | \"sh\"}'", "awk '\"id\" | getline'", "awk -f x", "awk '@load \"x\"'",
			"sort --compress-program=x f", "sort $X", "sort *", "git st", "git -p status", "git --paginate log", "git -c core.pager=x status", "git -C x status", "git --git-dir=x status", "git diff --ext-diff", "git log --textconv", "git grep -Ox y", "git -c alias.x='!ls' x", "less f", "man ls", "vi f", "gіt status", "git status\u200b", "ls \u202e", "echo 'x", "ls\r", "ls \x00", "date $X",
			"(ls ''#; rm x\n)", "if x", "ls --unknown | sort --unknown", "tar -I x -tf f", "tar tf x --to-command=y", "nc -l 1", "x() { ls; }; (x); y", "ls \xff", "/tmp/ls", "xargs -I{} sh -c {}", "printf %s x | xargs sh", "set -k; ls PATH=/x", "G=ls; \\read G <<< rm; $G -r x", "G=ls; command read G <<< rm; $G x", "G=ls; trap 'G=rm' DEBUG; $G x", "echo() { printf rm; }; $(echo ls) x", "ls() { :; }; \\unset -f ls; ls",
			"git() { :; }; uns\"\"et -f git; git push", "\"declare\" -n r=G; G=ls; r=rm; $G x", "G=ls; exec {G}> f; $G", "declare -n r=G; G=ls; r=rm; $G x", "zsh -c ls", "enable -f x y",
		},
	} {
		for _, script := range scripts {
			p := Parse(script)
			if got := p.Class(); got != want {
				t.Errorf("%q is %s, want %s: %s (problems %v)", script, got, want, p.Why(), p.Problems)
			}
		}
	}
}

// shared returns a file of the cases that are shared by the field, or skips.
func shared(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("HANDRAIL_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "cases", name))
	if err != nil {
		t.Skipf("the shared cases are not here: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestGTFOBins asks that no snippet that writes, runs or connects is taken for
// reading, and that none panics.
func TestGTFOBins(t *testing.T) {
	lines := bufio.NewScanner(shared(t, "gtfobins.jsonl"))
	n, read := 0, 0
	for lines.Scan() {
		var c struct{ Binary, Function, Code string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		p := Parse(c.Code)
		if p.Class() != ReadOnly {
			continue
		}
		// These two stand there under other heads, and only print a file.
		if c.Function != "file-read" && c.Code != "busybox cat" && c.Code != "getent shadow" {
			t.Errorf("%s of %s is taken for reading: %q", c.Function, c.Binary, c.Code)
		}
		read++
	}
	if n < 800 {
		t.Errorf("only %d snippets were read", n)
	}
	t.Logf("%d snippets, %d of them reading", n, read)
}

// TestGTFOBins_Own are the tricks of that collection in our own words.
func TestGTFOBins_Own(t *testing.T) {
	for _, script := range []string{
		"find / -fprintf /tmp/o x -quit", "echo x | sort -m -o /tmp/o", "echo x | xxd -r - /tmp/o", "LESSOPEN='x %s' less f", "PAGER=x git -p help", "man -H/bin/sh man", "sed -n '1s/.*/x/w /tmp/o' f",
		"git --exec-path=. x", "git help config", "git branch --help", "tar cf /dev/null f --checkpoint=1 --checkpoint-action=exec=sh", "tee /tmp/o", "env sh", "split --filter=sh f", "cp a b", "date -s x", "column -x f | sh", "awk '{print > \"/dev/tcp/x\"}'", "gawk 'BEGIN{\"/inet/tcp/0/h/1\" |& getline}'",
		"stdbuf -i0 sh", "flock -u / sh", "ionice sh", "nice sh", "timeout 7d sh", "xargs -a /dev/null sh", "rg --pre sh x f", "base32 --output=x f", "ip netns exec x sh", "ss -F f", "jq -L /x 'import \"a\" as a; .' f",
	} {
		if got := Parse(script).Class(); got == ReadOnly {
			t.Errorf("%q is taken for reading", script)
		}
	}
}

func TestEffects(t *testing.T) {
	names := func(list []Path) string {
		var out []string
		for _, p := range list {
			name := p.Name
			if !p.Known && !p.Glob {
				name += "?"
			}
			out = append(out, name)
		}
		return strings.Join(out, " ")
	}
	for _, tc := range []struct{ script, reads, writes, hosts string }{
		{"cat a b > c", "a b", "c", ""},
		{"cp -r a b c", "a b", "c", ""},
		{"cp -t d a b", "a b", "d", ""},
		{"mv a b", "", "a b", ""},
		{"grep -n x a b", "a b", "", ""},
		{"grep -e x a", "a", "", ""},
		{"grep -f p a", "p a", "", ""},
		{"sort -o c a", "a", "c", ""},
		{"sed -i s/a/b/ f", "f", "f", ""},
		{"awk '{print}' f", "f", "", ""},
		{"dd if=a of=b", "a", "b", ""},
		{"find src lib -name x", "src lib", "", ""},
		{"curl -o f https://a.example/x", "", "f", "https://a.example/x"},
		{"scp a u@h:b", "a", "", "u@h"},
		{"ssh u@h 'rm x'", "", "", "u@h"},
		{"exec 3<>/dev/tcp/h/80", "", "", "h:80"},
		{`cat "$F" ~/.ssh/id *.go`, "\"$F\"? ~/.ssh/id *.go", "", ""},
		{"D=out; touch $D/x", "", "out/x", ""},
		{"cat $HOME/.netrc", "~/.netrc", "", ""},
		{"cat .e*", ".e*", "", ""},
		{"tee a b <<< x", "", "a b", ""},
		{"bash -c 'echo x > y'", "", "y", ""},
		{"sudo rm z", "", "z", ""},
	} {
		e := Parse(tc.script).Effects()
		if r, w, h := names(e.Reads), names(e.Writes), strings.Join(e.Hosts, " "); r != tc.reads || w != tc.writes || h != tc.hosts {
			t.Errorf("%q reads %q writes %q reaches %q; want %q %q %q", tc.script, r, w, h, tc.reads, tc.writes, tc.hosts)
		}
	}
}
