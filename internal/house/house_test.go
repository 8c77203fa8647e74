package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	// maxLines is how long a file may be that is not a test: what somebody
	// reads in one sitting.
	maxLines = 400
	// maxFunction is how long a function may be: a screen.
	maxFunction = 70
	// maxDirect is how many modules may be required directly. Each is code
	// that somebody must trust.
	maxDirect = 24
)

// root returns the repository and its files that git would keep.
func root(t *testing.T) (string, []string) {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err == nil {
		var files []string
		for name := range strings.Lines(string(out)) {
			name = strings.TrimSuffix(name, "\n")
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				files = append(files, name)
			}
		}
		return dir, files
	}
	return dir, walk(t, dir)
}

// walk lists the files of a copy that is not a git repository.
func walk(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(name, "bin/") {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// goFiles calls visit for every Go file that is not a test.
func goFiles(t *testing.T, visit func(name string, data []byte, f *ast.File, fset *token.FileSet)) {
	t.Helper()
	dir, files := root(t)
	seen := 0
	for _, name := range files {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		data := read(t, dir, name)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		visit(name, data, f, fset)
	}
	if seen == 0 {
		t.Fatal("no Go file was found, so nothing was checked")
	}
}

// earliest is the one file with an init function: in a fence process it must run
// before those of the program, and anywhere else it costs one getpid.
const earliest = "internal/sandbox/boot/entry.go"

func TestFilesAndFunctionsAreShort(t *testing.T) {
	goFiles(t, func(name string, data []byte, f *ast.File, fset *token.FileSet) {
		if n := bytes.Count(data, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines; at most %d", name, n, maxLines)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: %s has %d lines; at most %d", fset.Position(fn.Pos()), fn.Name.Name, n, maxFunction)
			}
			if fn.Name.Name == "init" && fn.Recv == nil && name != earliest {
				t.Errorf("%s: an init function costs every start of the program; use sync.OnceValue", fset.Position(fn.Pos()))
			}
		}
	})
}

func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	said := map[string]bool{}
	goFiles(t, func(name string, _ []byte, f *ast.File, _ *token.FileSet) {
		dir := path.Dir(name)
		said[dir] = said[dir] || f.Doc != nil && len(f.Doc.Text()) > 40
	})
	for dir, ok := range said {
		if !ok {
			t.Errorf("package %s has no package comment that says its one job", dir)
		}
	}
}

// unfinished are the words that mark what is left for later, where they stand
// in a comment; a program may well search for them. machine is a path of the
// machine that somebody worked on. Both are put together here so that this
// file does not hold them.
var (
	unfinished = regexp.MustCompile(`(?://|#|<!--)\s*(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"}, "|") + `)\b`)
	machine    = regexp.MustCompile("(?:^|[\\s\"'=(:`])/wo" + "rk/|/tmp/w" + "t/")
)

func TestNothingIsLeftForLater(t *testing.T) {
	dir, files := root(t)
	for _, name := range files {
		switch path.Ext(name) {
		case ".go", ".md", ".sh", ".yml", ".txtar", "":
		default:
			continue
		}
		if name == "LICENSE" || strings.Contains(name, "testdata/fuzz/") {
			continue
		}
		for i, line := range bytes.Split(read(t, dir, name), []byte("\n")) {
			for _, bad := range []*regexp.Regexp{unfinished, machine} {
				if found := bad.Find(line); found != nil {
					t.Errorf("%s:%d: %q", name, i+1, found)
				}
			}
		}
	}
}

func TestDependencyBudget(t *testing.T) {
	dir, _ := root(t)
	var direct []string
	for line := range strings.Lines(string(read(t, dir, "go.mod"))) {
		if strings.HasPrefix(line, "replace") {
			t.Error("go.mod replaces a module, so `go install` of the program would not work")
		}
		if fields := strings.Fields(line); strings.HasPrefix(line, "\t") && len(fields) == 2 {
			direct = append(direct, fields[0])
		}
	}
	if len(direct) > maxDirect {
		t.Errorf("go.mod requires %d modules directly; at most %d: %v", len(direct), maxDirect, direct)
	}
}

// TestPagesNameRealCommands keeps the pages from showing a command that the
// Makefile does not have.
func TestPagesNameRealCommands(t *testing.T) {
	dir, files := root(t)
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+):`).FindAllSubmatch(read(t, dir, "Makefile"), -1) {
		targets[string(m[1])] = true
	}
	named := 0
	for _, name := range append(files, ".ci/run") {
		if path.Ext(name) != ".md" && name != ".ci/run" {
			continue
		}
		for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)").FindAllSubmatch(read(t, dir, name), -1) {
			named++
			if !targets[string(m[1])] {
				t.Errorf("%s names `make %s`, which the Makefile does not have", name, m[1])
			}
		}
	}
	if named == 0 {
		t.Error("no page names a command of the Makefile")
	}
}

// TestAToolIsThreeFiles asks that words for the model stand beside the code
// that they describe.
func TestAToolIsThreeFiles(t *testing.T) {
	dir, files := root(t)
	for _, name := range files {
		if !strings.HasPrefix(name, "internal/tools/") || path.Ext(name) != ".md" {
			continue
		}
		if len(bytes.TrimSpace(read(t, dir, name))) == 0 {
			t.Errorf("%s says nothing", name)
		}
		if code := strings.TrimSuffix(name, ".md") + ".go"; !slices.Contains(files, code) {
			t.Errorf("%s has no %s beside it", name, code)
		}
	}
}
