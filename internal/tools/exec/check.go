package exec

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed check.md
var checkWords string

const (
	// maxFindings is how many findings an answer lists, findingBytes how long
	// one may be; both are those of octos.
	maxFindings  = 50
	findingBytes = 500
	// lastBytes is how much of an output that was not understood is shown.
	lastBytes = 4_000

	// checkHead and checkTail are how much of the beginning and the end of each
	// of a checker's outputs is read, in bytes. A project that says more has
	// thousands of mistakes.
	checkHead, checkTail = 4 << 20, 1 << 20
)

type checkArgs struct {
	Path    string `json:"path,omitempty" jsonschema:"folder of the project; the workspace's own if left out"`
	Timeout int    `json:"timeout_secs,omitempty" jsonschema:"seconds after which the checker is stopped" min:"1" max:"600" default:"120"`
}

// Check returns the tool check.
func Check() tool.Tool {
	return tool.Typed[checkArgs]{
		Spec: tool.Spec{
			Name: "check", Title: "Check the project", Description: words(checkWords),
			ArgAliases: map[string][]string{"path": {"dir", "workdir", "folder"}},
			Tags:       tags(), Effects: tool.Read | tool.Write | tool.Exec | tool.Network, Concurrency: tool.Exclusive,
			Timeout: MaxTimeout + margin, OutputBytes: 30_000,
		},
		Assess: assessCheck,
		Handle: runCheck,
	}.Tool()
}

// assessCheck names the program that would look at the project, so that rules
// about commands hold for it too.
func assessCheck(ctx context.Context, in checkArgs) (tool.Act, error) {
	k := From(ctx)
	act := k.act("run the checker of "+tool.Clip(path.Join("./", in.Path)), false)
	act.Command, act.Dir = k.Check, in.Path
	if k.Check != "" {
		return act, nil
	}
	r, err := newRun(ctx, &tool.Call{Tool: "check"}, in.Path)
	if err != nil {
		return tool.Act{}, err
	}
	c := detect(ctx, r.rel)
	if c == nil {
		return act, nil
	}
	for i, arg := range c.program(ctx, r) {
		quoted, ok := shellparse.Quote(arg)
		if !ok {
			act.Unclear = "its arguments cannot be written as a command"
		}
		if i > 0 {
			quoted = " " + quoted
		}
		act.Command += quoted
	}
	return act, nil
}

// A checker is a program that looks at a project.
type checker struct {
	label string
	// marks are the files of which one must be there.
	marks []string
	// argv are the programs to try, in order of preference. A name that
	// begins with "./" is one of the project's own.
	argv [][]string
	// read takes its output apart.
	read func(out, errs string) []finding
}

// checkers are tried in this order. A package.json alone says nothing: much
// JavaScript has no checker.
var checkers = []checker{
	{"cargo check", []string{"Cargo.toml"}, [][]string{{"cargo", "check", "--message-format=json", "--quiet"}}, readCargo},
	{"tsc", []string{"tsconfig.json"}, [][]string{{"./node_modules/.bin/tsc", "--noEmit", "--pretty", "false"}, {"tsc", "--noEmit", "--pretty", "false"}}, readLines},
	{"go vet", []string{"go.mod"}, [][]string{{"go", "vet", "./..."}}, readLines},
	{"python", []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}, [][]string{
		{"ruff", "check", "--output-format=concise", "--no-fix", "."}, {"mypy", "--no-error-summary", "."}, {"python3", "-c", pythonSyntax},
	}, readLines},
}

// pythonSyntax looks whether every file can be parsed.
const pythonSyntax = `import ast,os,sys
bad=0
for d,ds,fs in os.walk('.'):
    ds[:]=[x for x in ds if not x.startswith('.') and x not in('node_modules','venv','__pycache__')]
    for f in fs:
        if f.endswith('.py'):
            p=os.path.relpath(os.path.join(d,f))
            try: ast.parse(open(p,'rb').read(),p)
            except SyntaxError as e:
                bad=1; print(f'{p}:{e.lineno}:{e.offset}: error: {e.msg}')
            except ValueError as e:
                bad=1; print(f'{p}:1: error: {e}')
sys.exit(bad)`

func runCheck(ctx context.Context, call *tool.Call, in checkArgs) (*tool.Result, error) {
	r, err := newRun(ctx, call, in.Path)
	if err != nil {
		return nil, err
	}
	r.options.Limit = time.Duration(in.Timeout) * time.Second
	r.options.SplitStderr = true
	r.options.Head, r.options.Tail = checkHead, checkTail
	r.options.Live = progress(ctx, call)
	if r.kit.Check != "" {
		s := readScript(r.kit.Check)
		r.script(&s, false)
		return r.check(ctx, &checker{label: tool.Clip(r.kit.Check), read: readLines})
	}
	c := detect(ctx, r.rel)
	if c == nil {
		return tool.Text("There is nothing to check here: no " + marks() + " in " + r.rel + ". Give path if the project lies in another folder, or use shell."), nil
	}
	argv := c.program(ctx, r)
	if argv == nil {
		return tool.Text(fmt.Sprintf("Not checked: %s is not installed. Use shell if there is another way.", c.label)), nil
	}
	r.program(argv, false)
	return r.check(ctx, c)
}

// detect returns the checker of the project in a folder, or nil.
func detect(ctx context.Context, dir string) *checker {
	files := workspace.From(ctx)
	for i, c := range checkers {
		for _, mark := range c.marks {
			if info, err := files.Stat(path.Join(dir, mark)); err == nil && info.Mode().IsRegular() {
				return &checkers[i]
			}
		}
	}
	return nil
}

func marks() string {
	var all []string
	for _, c := range checkers {
		all = append(all, c.marks...)
	}
	return strings.Join(all, ", ")
}

// program returns the first of the checker's programs that is there.
func (c *checker) program(ctx context.Context, r *run) []string {
	env, _ := r.kit.Environment.Build(false)
	for _, argv := range c.argv {
		if own, ok := strings.CutPrefix(argv[0], "./"); ok {
			if at, err := workspace.From(ctx).Resolve(path.Join(r.rel, own)); err == nil && at.Exists {
				return append([]string{at.Abs}, argv[1:]...)
			}
			continue
		}
		if inPath(argv[0], env) {
			return argv
		}
	}
	return nil
}

// check runs the checker and tells what it found. That it found something is
// no failure: it was asked for, and what was there before the change must not
// cancel the calls that follow.
func (r *run) check(ctx context.Context, c *checker) (*tool.Result, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = r.process.Close() }()
	r.wait(ctx)
	exit, err := r.process.Exit()
	if err != nil {
		return nil, tool.Failf("the fence failed while the checker ran: %w", err)
	}
	out, errs := r.process.Output().Text(), r.process.Errors().Text()
	receipt := r.watching.After(ctx)
	res := &tool.Result{OK: true, Changed: receipt.Changed(), Metadata: r.metadata(exit)}
	found := unique(c.read(out, errs), r.dir)
	status, ok, code := r.status(exit)
	var notes []string
	switch {
	case code == tool.CodeTimeout || code == tool.CodeCancelled:
		res.OK, res.Code, res.Text = false, code, c.label+": "+status
	case len(found) > 0:
		res.Text = c.label + ": " + listFindings(found, maxFindings)
		if len(found) > maxFindings {
			notes = r.rest(ctx, listFindings(found, len(found)))
		}
	case ok:
		res.Text = c.label + ": clean"
	default:
		res.OK, res.Code = false, tool.CodeFailed
		res.Text = r.notUnderstood(c, exit.Code, out, errs)
		if said := errs + "\n" + out; len(said) > lastBytes {
			notes = r.rest(ctx, said)
		}
	}
	if lines := r.denial(exit, r.scan(strings.NewReader(errs+"\n"+out)), res); len(lines) > 0 {
		notes = append(notes, strings.Join(lines, "\n")+" This is not a mistake in the code.")
	}
	if notes != nil {
		res.Text += "\n\n" + strings.Join(notes, "\n")
	}
	if lines := receipt.Lines(); len(lines) > 0 {
		res.Text += "\n\n" + strings.Join(lines, "\n")
	}
	res.Text = strings.TrimRight(res.Text, "\n")
	return res, nil
}

// rest keeps what the answer leaves out.
func (r *run) rest(ctx context.Context, all string) []string {
	notes, err := r.kit.keep(ctx, r.call, strings.NewReader(all), false)
	if err != nil {
		return []string{"The whole output could not be kept."}
	}
	return notes
}

// notUnderstood is the answer where a checker failed and named no place. It
// names the layer that failed, so that nobody mends code that is not broken.
func (r *run) notUnderstood(c *checker, code int, out, errs string) string {
	text := strings.TrimSpace(errs + "\n" + out)
	layer := ""
	for _, l := range layers {
		if layer == "" && containsAny(text, l.signs) {
			layer = " " + l.what
		}
	}
	if len(text) > lastBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-lastBytes:], "")
	}
	return fmt.Sprintf("%s did not check anything (exit code %d).%s\n\n%s", c.label, code, layer, text)
}

// layers are what may fail below a checker, by what is said then.
var layers = []struct {
	what  string
	signs []string
}{
	{"It needs the network, which it does not have here: this is not a mistake in the code.", []string{
		"Could not resolve host", "Temporary failure in name resolution", "network is unreachable", "Network is unreachable", "dial tcp", "failed to download", "no such host", "ENOTFOUND", "Name or service not known"}},
	{"A part of the toolchain is missing.", []string{"command not found", "not installed", "toolchain", "No such file or directory"}},
	{"The project's own description is broken or missing.", []string{"failed to parse manifest", "could not find `Cargo.toml`", "error TS5", "errors parsing go.mod", "cannot find main module"}},
}

func containsAny(text string, signs []string) bool {
	for _, s := range signs {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
