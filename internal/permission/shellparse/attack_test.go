package shellparse

import (
	"strings"
	"testing"
)

// attacks run "touch pwn" by every way of the shell and of programs that we
// know of. No rule that refuses touch may let one pass, no rule about other
// programs may permit one, and none is reading.
var attacks = []string{
	// The shell's own ways.
	"if touch pwn; then :; fi", "while touch pwn; do break; done", "until touch pwn; do :; done", "case x in x) touch pwn;; esac", "select i in a; do touch pwn; done",
	"for ((i=0;i<1;i++)); do touch pwn; done", "for i in a; do touch pwn; done", "[[ -f $(touch pwn) ]]", "(( $(touch pwn) ))", "let x=$(touch pwn)", "a=($(touch pwn))", "a[$(touch pwn)]=1",
	"declare a=$(touch pwn)", "readonly x=$(touch pwn)", `export "x=$(touch pwn)"`, "f() { local x=$(touch pwn); }; f", `echo "${x:=$(touch pwn)}"`, "echo ${x/$(touch pwn)/}", "echo ${x:$(touch pwn)}", "echo $((`touch pwn`))", "echo $[ $(touch pwn) ]",
	"cat <<E\n$(touch pwn)\nE", "cat <<< $(touch pwn)", "ls > $(touch pwn)", "{ touch pwn; } 2>/dev/null", "coproc x { touch pwn; }", "time -p touch pwn", "! touch pwn", "touch pwn &", "f() ( touch pwn ); f", "function f { touch pwn; }",
	"trap 'touch pwn' 0", "trap -- 'touch pwn' EXIT", "command eval touch pwn", "builtin eval 'touch pwn'", `\command \touch pwn`, "exec -a x touch pwn", "exec -ca x touch pwn", "command -p touch pwn", "cat <(touch pwn)", "ls > >(touch pwn)", "exec 3< <(touch pwn)",
	"bash -c -- 'touch pwn'", "bash -xc 'touch pwn'", "bash -o pipefail -c 'touch pwn'", "bash +x -c 'touch pwn'", "bash --norc -c 'touch pwn'", `bash -c "$(echo touch pwn)"`, "bash -c $'touch\\x20pwn'", "sh -c 'eval \"$1\"' _ 'touch pwn'", "sh -c '$0 pwn' touch",
	"sh -s <<< 'touch pwn'", "bash /dev/stdin <<< 'touch pwn'", "bash <(echo touch pwn)", ". <(echo touch pwn)", "source /dev/stdin <<< 'touch pwn'", "echo touch pwn | bash -s -- a", "echo touch pwn | tee /dev/null | sh", "cat <<E | sh -x\ntouch pwn\nE",
	"yes touch pwn | sh", "printf 'touch\\tpwn' | sh", "printf '%b' 'touch pwn' | sh", "echo -e 'touch\\x20pwn' | sh", "echo dG91Y2ggcHdu | base64 -d | sh", "rev <<< 'nwp hcuot' | sh", "T=to; U=uch; $T$U pwn", `T=touch; "$T" pwn`, `T="touch pwn"; $T`, "T='touch pwn'; eval $T",
	`a=(touch pwn); "${a[@]}"`, `set -- touch pwn; "$@"`, `t\ouch pwn`, "to''uch pwn", "tou$@ch pwn", "tou${x}ch pwn", "{touch,pwn}", "/???/bin/touch pwn", "/usr/bin/t[o]uch pwn", "/usr/bin/t?uch pwn", "~/../usr/bin/touch pwn", "touch${IFS}pwn", "IFS=,; T=touch,pwn; $T", `X=touch\ pwn; $X`,
	"$(which touch) pwn", "`command -v touch` pwn", "alias x='touch pwn'; x", "x='$(touch pwn)'; echo ${x@P}", "x='a[$(touch pwn)]'; (( x ))", "read 'a[$(touch pwn)]' <<< x", "printf -v 'a[$(touch pwn)]' x", "unset 'a[$(touch pwn)]'", "[ -v 'a[$(touch pwn)]' ]",
	"mapfile -C 'touch pwn' -c 1 < f", "compgen -C 'touch pwn' x", "hash -p /usr/bin/touch x; x pwn", "$\"touch\" pwn", "to\\\nuch pwn", "e='touch pwn'; bash -c \"$e\"", "bash -c \"bash -c \\\"bash -c 'touch pwn'\\\"\"", "eval eval eval touch pwn", "<<E sh\ntouch pwn\nE", "sh 0<<E\ntouch pwn\nE", "sh <<-'E'\n\ttouch pwn\n\tE",
	"(cd x && (touch pwn))", "true && false || touch pwn", "x=1 touch pwn", "> f touch pwn", "2>&1 touch pwn", "$'\\x74ouch' pwn", "$'to\\165ch' pwn", "f() { \"$@\"; }; f touch pwn", "while read -r c; do $c; done <<< 'touch pwn'",
	`G=ls; \read G <<< touch; $G pwn`, "G=ls; builtin read G <<< touch; $G pwn", "G=touch eval '$G pwn'", "echo() { printf touch; }; $(echo ls) pwn", "((touch pwn) )", "echo $((touch pwn) )", "time -- touch pwn", "time -p -- touch pwn", "G=ls; trap 'G=touch' DEBUG; $G pwn", "${ touch pwn; }", "if :; then touch pwn\nfi", "touch\tpwn", "touch pwn;;", "x() { touch pwn; } 2>/dev/null; x", "for PATH in /x; do touch pwn; done", "<(touch pwn) x", "a=touch b=pwn; $a $b", "exec touch pwn >f", "&> f touch pwn",
	`declare 'a[$(touch pwn)]=1'`, `declare -a "a[\$(touch pwn)]=1"`, `typeset -i 'b=a[$(touch pwn)]'`, `declare -i b='a[$(touch pwn)]'`, `readonly -i 'b=a[$(touch pwn)]'`, `f() { local -n q='a[$(touch pwn)]'; echo $q; }; f`, `compgen -W '$(touch pwn)'`, "compgen -W '`touch pwn`'", `complete -W '$(touch pwn)' x`, "fc -s ls=touch", "fc -e - ls=touch", "builtin fc -s ls=touch",
	// Variables that programs run.
	"PS4='$(touch pwn)'; set -x; ls", "PROMPT_COMMAND='touch pwn' bash -i", "GIT_SSH_COMMAND='touch pwn' git fetch", "GIT_EDITOR='touch pwn' git commit", "export PAGER='touch pwn'; git -p log", "LESSOPEN='|touch pwn' less f", "env 'BASH_FUNC_ls%%=() { touch pwn; }' bash -c ls", "env GIT_PAGER='touch pwn' git -p log", "sudo GIT_PAGER='touch pwn' git log", "BASH_ENV=<(echo touch pwn) bash -c :; eval \"$x\"",
	// Wrappers.
	"nice -n5 touch pwn", "nice -5 touch pwn", "nice --adjustment=5 touch pwn", "nice -n -5 touch pwn", "timeout -k5 5 touch pwn", "timeout --kill-after 5 5 touch pwn", "timeout --foreground 5 touch pwn", "env -u X touch pwn", "env --unset=X touch pwn", "env -C / touch pwn", "env -vS 'touch pwn'", "env -S'touch pwn'", "env --split-string='touch pwn'", "env - touch pwn", "env -- touch pwn",
	"echo pwn | xargs -0 -n 1 touch", "xargs -n1 -- touch < f", "xargs --max-args 1 touch < f", "echo pwn | xargs -I % sh -c 'touch %'", "echo touch pwn | xargs -I{} sh -c {}", "echo touch | xargs -I@ @ pwn", "watch 'touch pwn'", "watch -n 1 -- touch pwn", "nohup sh -c 'touch pwn' &", "setsid -f touch pwn", "script -q -c 'touch pwn'", "script -c 'touch pwn' -q /dev/null",
	"su -c 'touch pwn'", "su root -c 'touch pwn'", "runuser -u x -- touch pwn", "sudo -- touch pwn", "sudo -u root -- touch pwn", "sudo -iu root touch pwn", "sudo A=b touch pwn", "sudo -E env A=b touch pwn", "sudo bash <<< 'touch pwn'", "echo touch pwn | sudo sh", "sudo -s touch pwn", "sudo -s <<< 'touch pwn'", "pkexec touch pwn", "doas touch pwn",
	"stdbuf -o0 -eL touch pwn", "flock -n /tmp/l touch pwn", "flock /tmp/l -c 'touch pwn'", "ionice -c 3 touch pwn", "chrt -b 0 touch pwn", "taskset -c 0 touch pwn", "unshare -Ur touch pwn", "nsenter -t 1 -a touch pwn", "chroot / touch pwn", "ip netns exec n touch pwn", "ip -n n netns exec n touch pwn", "ip vrf exec v touch pwn", "split --filter='touch pwn' f", "strace -o f touch pwn", "setpriv --reuid=1 touch pwn", "systemd-run --user touch pwn", "npx touch pwn", "npm exec -- touch pwn", "npm exec -c 'touch pwn'", "poetry run touch pwn", "uv run touch pwn", "tmux new-session -d 'touch pwn'", "hyperfine 'touch pwn'",
	"/lib64/ld-linux-x86-64.so.2 /usr/bin/touch pwn", "busybox touch pwn", "busybox sh -c 'touch pwn'", "toybox touch pwn", "parallel touch ::: pwn", "parallel -j1 'touch {}' ::: pwn", "echo 'touch pwn' | at now", "ssh-agent touch pwn", "sudo --odd x touch pwn", "timeout --odd x 5 touch pwn",
	// Programs that run programs.
	`find . -exec touch pwn \;`, `find . -name '*.x' -ok sh -c 'touch pwn' \;`, `find . -exec echo {} \; -exec touch pwn \;`, "find . -execdir touch pwn {} +", "fd x -X touch pwn", "tar -cf x --use-compress-program='touch pwn' y", "tar -I'touch pwn' -cf x y", "tar cIf 'touch pwn' x y", "tar --checkpoint-action exec='touch pwn' -cf x y",
	"rsync -e 'sh -c \"touch pwn\"' a b", "scp -o ProxyCommand='touch pwn' a h:b", "ssh -oProxyCommand='touch pwn' h", "ssh -o 'ProxyCommand touch pwn' h", "ssh h touch pwn", "ssh h -p 22 touch pwn", "ssh h -- touch pwn", "ssh -t h 'bash -c \"touch pwn\"'", "ssh h <<E\ntouch pwn\nE", "zip x y -T -TT 'touch pwn'", "man -P 'touch pwn' ls", "less '+!touch pwn' f", "vim -c '!touch pwn'", "vim '+!touch pwn' f", "ed <<< '!touch pwn'", "sqlite3 x '.shell touch pwn'", "psql -c '\\! touch pwn'", "gdb -batch -ex 'shell touch pwn'", "socat - EXEC:'touch pwn'",
	"git -c core.editor='touch pwn' commit", "git -c alias.x='!touch pwn' x", "git -c core.fsmonitor='touch pwn' status", "git -c diff.external='touch pwn' diff", "git -c filter.x.clean='touch pwn' add .", "git config alias.x '!touch pwn' && git x", "git grep --open-files-in-pager='touch pwn' x", "git grep -O'touch pwn' x", "git difftool -x 'touch pwn'", "git clone 'ext::sh -c touch% pwn' x", "git clone -c core.sshCommand='touch pwn' h:x", "git fetch --upload-pack='touch pwn' h", "git rebase --exec 'touch pwn' m", "git bisect run touch pwn", "git submodule foreach touch pwn", "git filter-branch --tree-filter 'touch pwn'",
	"awk 'BEGIN{system(\"touch pwn\")}'", "awk 'BEGIN{\"touch pwn\" | getline}'", "gawk --source 'BEGIN{system(\"touch pwn\")}'", "sed -n '1e touch pwn' f", "sed 's/.*/touch pwn/e' f", "busybox awk 'BEGIN{system(\"touch pwn\")}'", "rg --pre 'touch pwn' x", "sort --compress-program='touch pwn' f", "go test -exec 'touch pwn' ./...", "go build -toolexec='touch pwn'",
	"python3 -Ic 'import os;os.system(\"touch pwn\")'", "python3 - <<< 'import os;os.system(\"touch pwn\")'", "echo 'import os;os.system(\"touch pwn\")' | python3", "perl -we 'exec qw(touch pwn)'", "perl -ne 'system(\"touch pwn\")' f", "ruby -e 'exec \"touch pwn\"'", "node -p 'require(\"child_process\").execSync(\"touch pwn\")'", "deno eval 'Deno.run({cmd:[\"touch\",\"pwn\"]})'", "php -r '`touch pwn`;'", "lua -e 'os.execute(\"touch pwn\")'", "tclsh <<< 'exec touch pwn'", "Rscript -e 'system(\"touch pwn\")'",
	"docker run -v /:/h --entrypoint touch alpine pwn", "docker run --rm alpine touch pwn", "docker --context x exec -u 0 c touch pwn", "kubectl exec -it p -c x -- touch pwn", "docker compose -f x.yml run --rm web touch pwn",
}

func TestAttacks(t *testing.T) {
	deny := set(t, "touch *")
	var others []*Pattern
	for name := range table().entries {
		if name == "touch" || strings.Contains(name, " ") || strings.ContainsAny(name, "[") {
			continue
		}
		switch e := table().entries[name]; e.kind {
		case "code", "othershell", "anywhere", "plus":
			// A rule that permits an interpreter permits what it runs.
			continue
		}
		others = append(others, mustPattern(name+":*"))
	}
	allow := NewSet(others...)
	for _, script := range attacks {
		p := Parse(script)
		if _, ok := deny.Hit(p); !ok {
			t.Errorf("%q is not refused", script)
		}
		if p.Class() == ReadOnly {
			t.Errorf("%q is taken for reading", script)
		}
		if allow.Cover(p, true).Commands() && !permitsAnything(script) {
			t.Errorf("%q is permitted by rules about other programs", script)
		}
	}
}

// permitsAnything are the programs whose arguments are programs: whoever has a
// rule for them has one for what they run.
func permitsAnything(script string) bool {
	for _, name := range []string{"socat", "tmux", "npm exec"} {
		if strings.HasPrefix(script, name) {
			return true
		}
	}
	return false
}

// TestHonestCommandsPass asks that a rule that refuses does not refuse what
// has nothing to do with it.
func TestHonestCommandsPass(t *testing.T) {
	deny := set(t, "git push:*", "rm -rf:*", "sudo *", "curl *")
	for _, script := range []string{
		"ls -la && git status", "git commit -m 'remove rm -rf and sudo, then git push'", "grep -rn 'git push' docs", "echo \"run git push\"", "git log --oneline | head", "go test ./... 2>&1 | tail -20", "npm install && npm run build", "rm -r build", "rm -f x", "rm x", "cat README.md | grep sudo",
		"python3 manage.py migrate", "python3 -c 'print(sum(range(10)))'", "awk '{print $1}' f", "sed -i 's/a/b/' f", "for f in *.go; do gofmt -l \"$f\"; done", "find . -name '*.go' | xargs wc -l", "find . -type f -exec grep -l foo {} +", "make test", "cd \"$DIR\" && make", "if [ -f x ]; then cat x; fi", "docker ps", "export FOO=bar; echo $FOO",
		"cat > f <<'E'\nrm -rf x\nsudo y\nE", "git diff $BASE..HEAD", "kill $(cat pid)", "\"$VENV/bin/python\" x.py", "cargo build --release", "mkdir -p a/{b,c}", "PATH=$PATH:/x go build", "git fetch origin && git rebase origin/main", "jq '.a | .b' f.json", "timeout 60 ./run.sh", "./scripts/deploy.sh --dry-run", "printf '%s\\n' \"$x\" > f", "which curl",
	} {
		if m, ok := deny.Hit(Parse(script)); ok {
			t.Errorf("%q: %+v", script, m)
		}
	}
}

func TestLimits(t *testing.T) {
	for name, script := range map[string]string{
		"long":         strings.Repeat("a", MaxScript+1),
		"many":         strings.Repeat("a;", MaxCommands+1),
		"deep eval":    strings.Repeat("eval ", MaxDepth+5) + "ls",
		"deep subst":   strings.Repeat("$(", 200) + "ls" + strings.Repeat(")", 200),
		"deep funcs":   strings.Repeat("f() { ", 200) + "ls" + strings.Repeat("; }", 200),
		"deep wrapper": strings.Repeat("nice ", 100) + "ls",
		"aliases":      "alias a='b;b' b='c;c' c='d;d' d='e;e' e='f;f' f='g;g' g='h;h' h='i;i' i='j;j' j='k;k' k='l;l' l=ls; a",
		"brackets":     strings.Repeat("((", MaxScript/2),
		"indexes":      strings.Repeat("a[", MaxScript/2),
		"blocks":       strings.Repeat("{ ", MaxScript/2),
		"open braces":  strings.Repeat("{a,", 90) + " x",
		"braces":       strings.Repeat("{a,b}", 30),
	} {
		p := Parse(script)
		if p.Class() == ReadOnly {
			t.Errorf("%s is taken for reading", name)
		}
		if set(t, "*").Cover(p, true).All() && name != "aliases" {
			t.Errorf("%s is covered", name)
		}
		if len(p.Commands) > MaxCommands {
			t.Errorf("%s: %d commands", name, len(p.Commands))
		}
	}
}
