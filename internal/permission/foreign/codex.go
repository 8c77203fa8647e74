package foreign

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits of what a rule file may do while it is read.
const (
	// maxSteps is how much it may reckon. A file of 10,000 rules in plain
	// calls takes a tenth of this.
	maxSteps = 1 << 20
	// maxTime ends what no step counts.
	maxTime = 2 * time.Second
)

// readCodex reads a rule file of Codex: Starlark that calls prefix_rule,
// network_rule and host_executable. The examples that a rule brings are
// checked as Codex checks them.
func readCodex(src Source) (*Rules, error) {
	c := &codex{reader: reader{src: src}, hosts: map[string][]string{}}
	file, err := options.Parse(path.Base(src.Name), src.Data, 0)
	if err != nil {
		return nil, c.failed(err)
	}
	if syntax.Walk(file, c.plain); len(c.problems) > 0 {
		return c.result()
	}
	predeclared := starlark.StringDict{
		"prefix_rule":     starlark.NewBuiltin("prefix_rule", c.prefixRule),
		"network_rule":    starlark.NewBuiltin("network_rule", c.networkRule),
		"host_executable": starlark.NewBuiltin("host_executable", c.hostExecutable),
	}
	program, err := starlark.FileProgram(file, predeclared.Has)
	if err != nil {
		return nil, c.failed(err)
	}
	thread := &starlark.Thread{Name: path.Base(src.Name), Print: func(*starlark.Thread, string) {}}
	thread.SetMaxExecutionSteps(maxSteps)
	ctx, done := context.WithTimeout(context.Background(), maxTime)
	stop := context.AfterFunc(ctx, func() { thread.Cancel("it takes too long") })
	_, err = program.Init(thread, predeclared)
	stop()
	done()
	if err != nil {
		return nil, c.failed(err)
	}
	for _, p := range c.prefixes {
		c.check(p)
		c.carry(p)
	}
	return c.result()
}

var options = &syntax.FileOptions{TopLevelControl: true}

// codex collects what a rule file declares.
type codex struct {
	reader
	prefixes []prefix
	// hosts are the paths that are accepted for a program, by its name.
	hosts map[string][]string
	size  int
}

// failed turns an error of the language into a problem with its line.
func (c *codex) failed(err error) error {
	if parse, ok := errors.AsType[syntax.Error](err); ok {
		return Problems{{int(parse.Pos.Line), parse.Msg}}
	}
	if unresolved, ok := errors.AsType[resolve.ErrorList](err); ok {
		problems := make(Problems, len(unresolved))
		for i, one := range unresolved {
			problems[i] = Note{int(one.Pos.Line), one.Msg}
		}
		return problems
	}
	eval, ok := errors.AsType[*starlark.EvalError](err)
	if !ok {
		return Problems{{0, clip(err.Error())}}
	}
	line := 0
	for _, frame := range eval.CallStack {
		if frame.Pos.Line > 0 {
			line = int(frame.Pos.Line)
		}
	}
	return Problems{{line, clip(eval.Msg)}}
}

// plain refuses what could make a few lines grow without bound: the language
// counts steps and not what one of them makes. What is left, literals, names,
// loops and comprehensions, makes no more than it has steps.
func (c *codex) plain(n syntax.Node) bool {
	what := ""
	switch n := n.(type) {
	case *syntax.LoadStmt:
		what = "load"
	case *syntax.DefStmt, *syntax.LambdaExpr:
		what = "a function"
	case *syntax.BinaryExpr:
		if n.Op != syntax.EQ { // the sign of a named argument
			what = "the operator " + n.Op.String()
		}
	case *syntax.AssignStmt:
		if n.Op != syntax.EQ {
			what = "the operator " + n.Op.String()
		}
	case *syntax.DotExpr:
		what = "the method " + n.Name.Name
	case *syntax.DictExpr:
		what = "a dictionary"
	case *syntax.SliceExpr:
		what = "a slice"
	case *syntax.WhileStmt:
		what = "while"
	case *syntax.CallExpr:
		if name, ok := n.Fn.(*syntax.Ident); !ok || !slices.Contains([]string{"prefix_rule", "network_rule", "host_executable", "range"}, name.Name) {
			what = "a call of anything but prefix_rule, network_rule, host_executable and range"
		}
	}
	if what != "" {
		start, _ := n.Span()
		c.problem(int(start.Line), "the file reckons (%s); a rule file that is carried over has rules, lists, names for them and loops over them", what)
	}
	return what == ""
}

// networkRule notes a host. Which hosts commands reach is decided by the
// proxy of the fence, where a rule about the protocol has no counterpart.
func (c *codex) networkRule(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var host, protocol, decision, justification string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "host", &host, "protocol", &protocol, "decision", &decision, "justification?", &justification); err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSuffix(host, ".")), ":")
	if why := invalidRule("web_fetch*(domain:" + name + ")"); why != "" {
		return nil, fmt.Errorf("the host %q cannot be carried over: %s", clip(host), why)
	}
	line := c.line(t)
	switch decision {
	case "deny", "forbidden":
		c.add(denies, "web_fetch*(domain:"+name+")")
		c.note(line, `deny of the host %q holds for tools that fetch; for commands, put it into commands.deny_hosts`, name)
	case "prompt":
		c.add(asks, "web_fetch*(domain:"+name+")")
	case "allow":
		c.note(line, "allow of the host %q is left out; what commands may reach is in commands.allow_hosts", name)
	default:
		return nil, fmt.Errorf("the decision %q is not known; it is allow, prompt or deny", clip(decision))
	}
	return starlark.None, nil
}

// hostExecutable notes where a program is accepted.
func (c *codex) hostExecutable(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var list *starlark.List
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "paths", &list); err != nil {
		return nil, err
	}
	found := make([]string, 0, list.Len())
	for i := range list.Len() {
		one, ok := starlark.AsString(list.Index(i))
		if !ok || !path.IsAbs(one) || path.Base(one) != name {
			return nil, fmt.Errorf("a path of %q is absolute and ends in that name", clip(name))
		}
		found = append(found, one)
	}
	c.hosts[name] = found
	return starlark.None, nil
}

// line is where the file stands that calls a builtin.
func (c *codex) line(t *starlark.Thread) int {
	if t.CallStackDepth() < 2 {
		return 0
	}
	return int(t.CallFrame(1).Pos.Line)
}
