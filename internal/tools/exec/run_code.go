package exec

import (
	"context"
	"crypto/rand"
	_ "embed" // for the description and the interpreters' side
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed run_code.md
var runCodeWords string

// The drivers run in the interpreter. Each reads "TOKEN LENGTH\n" and so many
// bytes of code, runs it, and says "TOKEN STATUS" on a line of its own.
var (
	//go:embed drivers/driver.py
	pythonDriver string
	//go:embed drivers/driver.js
	nodeDriver string
	//go:embed drivers/driver.sh
	shellDriver string
)

// interrupted is how long an interpreter may take to stop what it does and
// keep what it knows.
const interrupted = 400 * time.Millisecond

type codeArgs struct {
	Language string `json:"language" jsonschema:"which interpreter" enum:"python|node|sh"`
	Code     string `json:"code,omitempty" jsonschema:"the code" max:"500000"`
	Timeout  int    `json:"timeout_secs,omitempty" jsonschema:"seconds after which it is interrupted" min:"1" max:"600" default:"60"`
	Restart  bool   `json:"restart,omitempty" jsonschema:"begin with a new interpreter"`
}

// RunCode returns the tool run_code.
func RunCode() tool.Tool {
	return tool.Typed[codeArgs]{
		Spec: tool.Spec{
			Name: "run_code", Title: "Run code", Description: words(runCodeWords),
			ArgAliases: map[string][]string{"language": {"lang"}, "timeout_secs": {"timeout"}},
			Tags:       tags(), Effects: tool.Read | tool.Write | tool.Exec | tool.Network, Concurrency: tool.Exclusive,
			Timeout: MaxTimeout + margin, OutputBytes: outputBytes,
		},
		Assess: func(ctx context.Context, in codeArgs) (tool.Act, error) {
			if in.Code == "" && !in.Restart {
				return tool.Act{}, tool.Invalidf("code is empty; with restart it may be")
			}
			return From(ctx).assessCode(in)
		},
		Handle: runCode,
	}.Tool()
}

// assessCode is the act of some code. What was defined by earlier code is not
// known; of a language other than the shell's, nor is what it starts.
func (k *Kit) assessCode(in codeArgs) (tool.Act, error) {
	if in.Language == "sh" && in.Code != "" {
		act, err := k.assess(in.Code, "", false, "")
		act.Resumed = true
		return act, err
	}
	act := k.act("run "+in.Language+" code: "+tool.Clip(in.Code), false)
	if in.Code == "" {
		return act, nil
	}
	act.Unclear = "what " + in.Language + " code starts cannot be told from its text"
	if text, ok := shellparse.Quote(in.Code); ok {
		act.Command, act.Resumed = map[string]string{"python": "python3 -c ", "node": "node -e "}[in.Language]+text, true
		if _, err := k.judgeWrites(act.Command); err != nil {
			return tool.Act{}, err
		}
	}
	return act, nil
}

// interpreter returns how an interpreter is started.
func interpreter(language string, env []string) []string {
	switch language {
	case "python":
		for _, name := range []string{"python3", "python"} {
			if inPath(name, env) {
				return []string{name, "-u", "-c", pythonDriver}
			}
		}
	case "node":
		if inPath("node", env) {
			return []string{"node", "-e", nodeDriver}
		}
	case "sh":
		if strings.HasSuffix(process.Shell(), "bash") {
			return []string{process.Shell(), "-c", shellDriver}
		}
	}
	return nil
}

func runCode(ctx context.Context, call *tool.Call, in codeArgs) (*tool.Result, error) {
	k := From(ctx)
	label := "run_code " + in.Language
	e := k.Commands.Find("run_code", label)
	if e != nil && in.Restart {
		k.Commands.Remove(e, "it was started anew")
		e = nil
	}
	if in.Code == "" {
		return tool.Text("The interpreter begins anew with the next call."), nil
	}
	watching, err := k.Witness.Before(ctx, k.writes(), false)
	if err != nil {
		return nil, err
	}
	fresh := e == nil
	if fresh {
		if e, err = startInterpreter(ctx, call, in.Language, label); err != nil {
			return nil, err
		}
	}
	e, done, err := k.Commands.Talk(ctx, e.ID)
	if err != nil {
		return nil, tool.Failf("%w", err)
	}
	defer done()
	c := &coding{kit: k, call: call, entry: e, token: "handrail-" + rand.Text()}
	c.as = &run{kit: k, call: call, process: e.Process, fence: e.Fence, dir: e.Dir}
	text, status, how := c.run(ctx, in.Code, time.Duration(max(in.Timeout, 1))*time.Second)
	return c.result(ctx, text, status, how, watching), nil
}

func startInterpreter(ctx context.Context, call *tool.Call, language, label string) (*process.Entry, error) {
	r, err := newRun(ctx, call, "")
	if err != nil {
		return nil, err
	}
	env, _ := r.kit.Environment.Build(false)
	argv := interpreter(language, env)
	if argv == nil {
		return nil, tool.Failf("not run: there is no interpreter for %s on this machine", language)
	}
	r.program(argv, false)
	r.options.Open = true
	if err := r.startUnwatched(ctx); err != nil {
		return nil, err
	}
	e, err := r.kit.Commands.Add(r.process, "run_code", label, process.Place{Fence: r.fence, Dir: r.dir, Outside: r.outside})
	if err != nil {
		_ = r.process.Close()
		return nil, tool.Errorf(tool.CodeCancelled, "not run: %w", err)
	}
	return e, nil
}

// coding is one piece of code in an interpreter.
type coding struct {
	kit   *Kit
	call  *tool.Call
	entry *process.Entry
	token string
	notes []string

	as      *run // the interpreter as a command
	refused []sandbox.Denial
}

// lastLines is in how much of the end of an output the driver's line is looked
// for, in bytes: threads that the code left behind may write after it.
const lastLines = 16 << 10

// run hands the code over and waits until the driver says that it is done.
// how says what is to be said beside the output.
func (c *coding) run(ctx context.Context, code string, limit time.Duration) (text string, ok bool, how string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, _ = c.entry.Output().Take() // what was said between two calls belongs to none
	frame := fmt.Sprintf("%s %d\n%s", c.token, len(code), code)
	if err := c.entry.Write(ctx, []byte(frame)); err != nil {
		// It may have got half of the code, and would take the next for the
		// other half.
		_ = c.entry.Stop("it did not take the code that it was given")
		return "", false, "The interpreter did not take the code, and was ended. The next call begins with a new one."
	}
	if done, ok := c.listen(ctx); done {
		return c.said(ctx), ok, ""
	}
	if c.over() {
		return c.said(ctx), false, "The interpreter has ended; the next call begins with a new one."
	}
	_ = c.entry.Signal(syscall.SIGINT)
	again, stop := context.WithTimeout(context.WithoutCancel(ctx), interrupted)
	defer stop()
	if done, _ := c.listen(again); done {
		return c.said(ctx), false, fmt.Sprintf("Interrupted after %s. The interpreter keeps what it knows.", limit)
	}
	_ = c.entry.Stop("it did not stop when its time was over")
	return c.said(ctx), false, fmt.Sprintf("Ended after %s, with the interpreter: it did not stop. The next call begins with a new one.", limit)
}

func (c *coding) over() bool {
	select {
	case <-c.entry.Ended():
		return true
	default:
		return false
	}
}

// listen waits until the driver's line comes, the interpreter ends, or ctx is
// done.
func (c *coding) listen(ctx context.Context) (done, ok bool) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		over := c.over()
		if _, status, found := strings.Cut(c.entry.Output().Last(lastLines), "\n"+c.token+" "); found && strings.Contains(status, "\n") {
			return true, strings.HasPrefix(status, "0\n")
		}
		if over {
			return false, false
		}
		select {
		case <-ctx.Done():
			return false, false
		case <-tick.C:
		}
	}
}

// said takes the output, without the driver's line. A long one goes into the
// ledger as it is.
func (c *coding) said(ctx context.Context) string {
	text, _, err := c.entry.Output().TakeWhole(func(from *io.SectionReader, capped bool) (err error) {
		c.refused = c.as.scan(from)
		c.notes, err = c.kit.keep(ctx, c.call, from, capped)
		return err
	})
	text, _, _ = strings.Cut(text, "\n"+c.token+" ")
	text = strings.TrimRight(text, "\n")
	if c.refused == nil {
		c.refused = c.as.scan(strings.NewReader(text))
	}
	cut := output.Budget{Bytes: outputBytes - 2_000}.Apply(text)
	if cut.Omitted > 0 && c.notes == nil && err == nil {
		c.notes, err = c.kit.keep(ctx, c.call, strings.NewReader(text), false)
	}
	if err != nil {
		c.notes = []string{"The whole output could not be kept."}
	}
	return cut.Text
}

func (c *coding) result(ctx context.Context, text string, ok bool, how string, watching *witness.Watch) *tool.Result {
	if c.over() {
		c.kit.Commands.Remove(c.entry, "the interpreter has ended")
	}
	if text == "" {
		text = "(no output)"
	}
	receipt := watching.After(ctx)
	res := &tool.Result{OK: ok, Text: text, Changed: receipt.Changed()}
	if !ok {
		res.Code = tool.CodeFailed
	}
	var notes []string
	if how != "" {
		notes = append(notes, how)
	}
	notes = append(notes, c.notes...)
	notes = append(notes, c.as.denial(sandbox.Exit{}, c.refused, res)...)
	notes = append(notes, receipt.Lines()...)
	if len(notes) > 0 {
		res.Text += "\n\n" + strings.Join(notes, "\n")
	}
	return res
}
