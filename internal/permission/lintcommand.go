package permission

import (
	"strings"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/tool"
)

// A gadget is a command by which a program does more than its name says.
type gadget struct {
	script string
	// what the command does, behind "it allows SCRIPT, which".
	what string
	// said, if not "", is the argument that makes it so: a rule that has it
	// says what it allows.
	said string
}

// gadgets are tried on allow rules: what a rule covers of them is what it
// really allows. A script that runs another command is not here, since a rule
// of ours never speaks for that one.
var gadgets = []gadget{
	{"rm -rf ./x", "removes what cannot be brought back", "-rf"},
	{"bash x.sh", "runs whatever is in the file", ""}, {"sh x.sh", "runs whatever is in the file", ""},
	{"zsh x.sh", "runs whatever is in the file", ""}, {"dash x.sh", "runs whatever is in the file", ""},
	{"python3 -c x", "runs any program", ""}, {"python -c x", "runs any program", ""}, {"node -e x", "runs any program", ""},
	{"perl -e x", "runs any program", ""}, {"ruby -e x", "runs any program", ""}, {"php -r x", "runs any program", ""},
	{"lua -e x", "runs any program", ""}, {"deno eval x", "runs any program", ""}, {"bun -e x", "runs any program", ""}, {"osascript -e x", "runs any program", ""},
	{"python3 x.py", "runs whatever is in the file", ""}, {"python x.py", "runs whatever is in the file", ""}, {"node x.js", "runs whatever is in the file", ""},
	{"perl x.pl", "runs whatever is in the file", ""}, {"ruby x.rb", "runs whatever is in the file", ""},
	{"awk -f x.awk y", "runs whatever is in the file", ""},
	{"find . -delete", "removes every file that it finds", "-delete"},
	{"git push --force origin main", "overwrites what others have pushed", "--force"},
	{"git clean -fdx", "removes every file that is not committed", "clean"}, {"git reset --hard", "throws away every change that is not committed", "--hard"},
	{"docker run -v /:/host x", "gives a container the whole machine", "-v"},
	{"make x", "runs whatever the Makefile says", ""}, {"npm run x", "runs whatever package.json says", ""}, {"npx x", "fetches any package and runs it", ""},
	{"pnpm dlx x", "fetches any package and runs it", ""}, {"yarn dlx x", "fetches any package and runs it", ""},
	{"npm install x", "runs the scripts of any package", ""}, {"pip install x", "runs the scripts of any package", ""},
	{"go run x.go", "runs whatever is in the file", ""}, {"cargo run", "runs whatever is in the project", ""}, {"uv run x", "runs any program", ""},
	{"kubectl delete x y", "removes what runs elsewhere", "delete"}, {"terraform destroy", "removes what runs elsewhere", "destroy"},
	{"curl -T x http://host.example", "sends any file to any host", ""}, {"curl -o x http://host.example", "writes any file from any host", ""},
	{"wget http://host.example/x", "writes a file from any host", ""}, {"scp x host:y", "sends any file to any host", ""},
	{"rsync -a x host:y", "sends any file to any host", ""}, {"dd if=x of=y", "overwrites any file", ""},
	{"vim x", "runs any command from inside", ""}, {"less x", "runs any command from inside", ""}, {"sqlite3 x y", "runs any command with .shell", ""},
	{"crontab x", "has any command run later", ""},
}

// wrappers run a command that is judged by rules of its own.
var wrappers = []string{"sudo", "doas", "env", "xargs", "timeout", "nohup", "nice", "time", "ssh", "watch", "eval", "exec", "command", "parallel", "setsid", "stdbuf", "flock"}

// maxShown is how many commands a finding names.
const maxShown = 3

// wide reports what an allow rule about commands covers beyond its words.
func (l *linter) wide(r *rule) {
	if r.any && r.prefix == "" && l.executes(r.tool) {
		l.find(allowList, r, Wide, "it allows every command; name the commands, as %s(git status)", r.tool)
		return
	}
	if r.command == nil {
		return
	}
	set := shellparse.NewSet(r.command)
	if set.Cover(shellparse.Parse("no-such-program x"), false).Commands() {
		l.find(allowList, r, Wide, "it allows every command; name the program that it is for")
		return
	}
	var shown []string
	more := 0
	for _, g := range gadgets {
		if g.said != "" && strings.Contains(r.text, g.said) || !set.Cover(shellparse.Parse(g.script), false).All() {
			continue
		}
		if len(shown) == maxShown {
			more++
			continue
		}
		shown = append(shown, "`"+g.script+"`, which "+g.what)
	}
	switch {
	case len(shown) > 0:
		text := "it also allows " + strings.Join(shown, "; ")
		if more > 0 {
			text += "; and more of the kind"
		}
		l.find(allowList, r, Wide, "%s. Name the arguments that are meant", text)
	case l.wraps(r.command):
		l.find(allowList, r, Dead, "it allows nothing by itself: what the command runs is judged too, and needs a rule of its own")
	}
}

func (l *linter) executes(name string) bool {
	spec, ok := l.names.Resolve(name)
	return ok && spec.Effects.Declared().Has(tool.Exec)
}

// wraps reports whether a pattern is about nothing but commands that run what
// follows.
func (l *linter) wraps(p *shellparse.Pattern) bool {
	name, _, _ := strings.Cut(p.Example(), " ")
	for _, w := range wrappers {
		if name == w {
			return true
		}
	}
	return false
}

// respellings are ways to run a command that are not written as it is; %s is the
// command.
var respellings = []string{
	"%s", "/usr/bin/%s", "command %s", "env %s", "env A=b %s", "exec %s", "nohup %s", "nice -n 5 %s", "timeout 5 %s", "time %s", "setsid %s",
	"sudo -n %s", "(%s)", "{ %s; }", "true; %s", "true && %s", "if true; then %s; fi", "$(%s)", "`%s`", "echo x | xargs %s", "sh -c '%s'",
	"bash -lc '%s'", "eval '%s'", "find . -exec %s {} ;", "busybox sh -c '%s'", "echo '%s' | sh", "! %s", "%s > x", "%s &", "A=b %s",
}

// slips reports on a rule that refuses a command as it is written, and not as
// it can be written otherwise.
func (l *linter) slips(list int, r *rule) {
	set, plain := shellparse.NewSet(r.command), r.command.Example()
	caught := func(script string) bool {
		_, hit := set.Hit(shellparse.Parse(script))
		return hit
	}
	if !strings.Contains(plain, "'") {
		for _, s := range respellings {
			if !caught(plain+" x") && (strings.Contains(s, "xargs") || strings.Contains(s, "-exec")) {
				continue // these add arguments, and the rule is about none
			}
			if script := strings.Replace(s, "%s", plain, 1); !caught(script) {
				l.find(list, r, Slips, "`%s` is the same command and is not caught", script)
				return
			}
		}
	}
	words := strings.Fields(plain)
	if len(words) < 2 || strings.HasPrefix(words[1], "-") || strings.Contains(plain, "'") {
		return
	}
	rest := strings.Join(words[1:], " ")
	last := words[len(words)-1]
	switch {
	case strings.Contains(last, "://"):
		if script := words[0] + " -s " + rest; !caught(script) {
			l.find(list, r, Slips, "`%s` reaches the same host and is not caught; refuse the host itself, as %s(domain:HOST), or the program as %s(%s *)",
				script, r.tool, r.tool, words[0])
		}
	case looksLikePath(last):
		if script := strings.TrimSuffix(plain, last) + "./" + last; !strings.HasPrefix(last, "/") && !strings.HasPrefix(last, "./") && !caught(script) {
			l.find(list, r, Slips, "`%s` names the same file and is not caught; refuse the file itself, as read_file(%s) or edit_file(%s)", script, last, last)
		}
	}
}

// looksLikePath reports whether an argument names a file.
func looksLikePath(arg string) bool {
	return strings.Contains(arg, "/") || strings.HasPrefix(arg, ".") && len(arg) > 2 || strings.HasSuffix(arg, ".pem") || strings.HasSuffix(arg, ".env")
}
