package shellparse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBashRunsNothingElse runs scripts under a real bash in which every
// program is a stand-in that writes down its name, and asks that each that ran
// is among those that were found. Scripts that name a path are left out: they
// could reach a program that is none.
func TestBashRunsNothingElse(t *testing.T) {
	programs := t.TempDir()
	for _, name := range []string{"git", "touch", "rm", "ls", "npm", "find", "env", "sudo", "xargs", "curl", "make", "sh", "bash", "cat", "tee", "timeout", "nice", "awk", "sed", "a", "x"} {
		stand := "#!/bin/bash\necho ${0##*/} >> \"$RAN\"\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(stand), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	scripts := slices.Concat(attacks, spellingsOfGit.caught, spellingsOfGit.missed)
	random := scriptMaker{rand.New(rand.NewPCG(1, 2))}
	for range 60 {
		scripts = append(scripts, random.script())
	}
	// What is a comment is where parsers differ: behind quotes, expansions,
	// operators, continued lines.
	for _, before := range []string{"''", `""`, "$x", "$(:)", "`:`", "${x}", `\ `, "{a,b}", "<(:)", "$'x'", "a", "a=", ">f", "\\\n", " \\\n", "a\\\n", "*", "$((1))", "\\", "a\t", "'b'c"} {
		for _, around := range []string{"%s", "(%s\n)"} {
			scripts = append(scripts, fmt.Sprintf(around, "ls "+before+"#; touch y"), fmt.Sprintf(around, "ls "+before+"# '\ntouch y\n#'"))
		}
	}
	ran := 0
	for i, script := range scripts {
		if strings.ContainsAny(script, "/~") || strings.Contains(script, "kill") {
			continue
		}
		names, clear := namesIn(Parse(script))
		if !clear {
			continue
		}
		ran++
		for _, name := range runIn(t, programs, filepath.Join(t.TempDir(), fmt.Sprint(i)), script) {
			if !names[name] {
				t.Errorf("%q ran %s, which is not among %v", script, name, names)
			}
		}
	}
	if ran < 80 {
		t.Errorf("only %d of %d scripts were clear enough to be run", ran, len(scripts))
	}
}

// namesIn returns the programs of a script, and whether it says that these are
// all.
func namesIn(p *Program) (names map[string]bool, clear bool) {
	names = map[string]bool{}
	for i := range p.Commands {
		c := &p.Commands[i]
		if c.Opaque != "" || c.Code != "" || c.suffixes {
			return nil, false
		}
		names[c.Name] = true
	}
	return names, len(p.Problems) == 0
}

// runIn runs a script and returns the stand-ins that ran.
func runIn(t *testing.T, programs, log, script string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + programs, "HOME=" + dir, "RAN=" + log}
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(got))
}

// A scriptMaker makes scripts that hide what they run.
type scriptMaker struct{ *rand.Rand }

func (m scriptMaker) one(list ...string) string { return list[m.IntN(len(list))] }

func (m scriptMaker) script() string {
	s := m.statement(0)
	for range m.IntN(4) {
		s += m.one("\n", "; ") + m.statement(0)
	}
	return s
}

func (m scriptMaker) word() string {
	return m.one("a", "$V", `"$V"`, "${V}x", "{a,b}", "'q w'", `"$(ls)"`, "`rm`", "$((1+2))", "*.c", "x$V", "--o=a", `"a\"b"`, `$'\x61'`, `a\ b`, "<(ls)", "${V:-git}", "${U:=rm}")
}

func (m scriptMaker) name() string {
	n := m.one("git", "touch", "rm", "ls")
	return m.one(n, n, "'"+n+"'", `"`+n+`"`, n[:1]+`\`+n[1:], n[:1]+`""`+n[1:], "$N", "$M", `"$N"`, "$(echo "+n+")", fmt.Sprintf(`$'\x%02x'`, n[0])+n[1:], n[:1]+"{"+n[1:]+",zz}", "$(printf %s "+n+")", n+"${IFS}a",
		"builtin read N", "builtin eval "+n, "builtin printf -v N "+n, "command "+n, "f", "g", "eval "+n, "exec "+n)
}

func (m scriptMaker) simple() string {
	s := m.one("", "", "X=1 ", "N=git ", "! ", "time ") + m.name()
	for range m.IntN(3) {
		s += " " + m.word()
	}
	return s + m.one("", "", " >o", " 2>&1", " <<< x", " &>o")
}

func (m scriptMaker) statement(depth int) string {
	if depth > 2 {
		return m.simple()
	}
	inner := func() string { return m.statement(depth + 1) }
	switch m.IntN(16) {
	case 0:
		return m.one("N", "M", "V", "W", "IFS") + "=" + m.one("git", "rm", "'git a'", "$N", "$(echo ls)", ",")
	case 1:
		return inner() + m.one(" && ", " || ", "; ", " | ", "\n", " & ") + inner()
	case 2:
		return m.one("( ", "{ ") + inner() + "; " + m.one(")", "}")
	case 3:
		return "if " + inner() + "; then " + inner() + "; else " + inner() + "; fi"
	case 4:
		return "for " + m.one("N", "M", "V") + " in git ls; do " + inner() + "; done"
	case 5:
		return m.one("f", "g", "ls", "echo", "git") + "() { " + inner() + "; }"
	case 6:
		return m.one("export N=touch", "unset -f f", "unset -f git", "read N <<< git", "declare -n N=M", "declare M=rm", "trap 'N=rm' DEBUG", "shopt -s expand_aliases\nalias a=git\na")
	case 7:
		return "case a in a) " + inner() + ";; esac"
	}
	return m.simple()
}
