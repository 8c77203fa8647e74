package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// starters are the files that start programs by themselves: what the fence and
// its probes are made of, doctor, and the scenario of real clients. All else
// goes through a fence.
var starters = []string{
	"internal/doctor/doctor.go", "internal/doctor/probe_linux.go", "internal/sandbox/boot/slot.go", "internal/sandbox/container.go",
	"internal/sandbox/host_unix.go", "internal/sandbox/namespaces_linux.go", "test/clients/command.go",
}

// scripts are the files that give a text to a shell or an interpreter, each
// because the text is what was asked to be run, or a constant.
var scripts = map[string]string{
	"internal/hook/command.go":        "the hook's command, as the settings have it",
	"internal/sandbox/try.go":         "a constant",
	"internal/tools/exec/command.go":  "the model's command",
	"internal/tools/exec/run_code.go": "a constant driver, which gets the code on its input",
	"internal/tools/exec/check.go":    "a constant",
}

// TestF098_ProgramsGetWordsAndNoScripts: built-in code starts programs with a
// list of words, so that no argument of a model's becomes a script. What is
// known of the options of programs, in shellparse, starts none.
func TestF098_ProgramsGetWordsAndNoScripts(t *testing.T) {
	started, scripted := map[string]bool{}, map[string]bool{}
	goFiles(t, func(name string, _ []byte, f *ast.File, fset *token.FileSet) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && startsPrograms(s) {
					started[name] = true
					if !slices.Contains(starters, name) {
						t.Errorf("%s: %s starts a program beside the fence", fset.Position(n.Pos()), s.Sel.Name)
					}
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err != nil || text != "-c" || strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "internal/permission/shellparse/") {
					break
				}
				scripted[name] = true
				if scripts[name] == "" {
					t.Errorf("%s: -c gives a script to a program; give it words", fset.Position(n.Pos()))
				}
			}
			return true
		})
	})
	for _, name := range starters {
		if !started[name] {
			t.Errorf("%s starts no program; take it from the list", name)
		}
	}
	for name := range scripts {
		if !scripted[name] {
			t.Errorf("%s gives no script to anything; take it from the list", name)
		}
	}
}

// startsPrograms reports whether a call is one that starts a program.
func startsPrograms(s *ast.SelectorExpr) bool {
	return slices.Contains([]string{"exec.Command", "exec.CommandContext", "os.StartProcess", "syscall.ForkExec", "syscall.StartProcess", "syscall.Exec", "unix.Exec"},
		fmt.Sprint(s.X)+"."+s.Sel.Name)
}
