package exec

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed shell.md
var shellWords string

type shellArgs struct {
	Command       string `json:"command" jsonschema:"the command, as it would be typed" min:"1" max:"500000"`
	Workdir       string `json:"workdir,omitempty" jsonschema:"folder to run in; the workspace's own if left out"`
	Timeout       int    `json:"timeout_secs,omitempty" jsonschema:"seconds after which it is stopped" min:"1" max:"600" default:"120"`
	TimeoutMS     int    `json:"timeout_ms,omitempty" jsonschema:"the same in milliseconds, instead of timeout_secs" min:"1" max:"600000"`
	Description   string `json:"description,omitempty" jsonschema:"what the command does, in a few words, for the person who is asked or looks on" max:"500"`
	Background    bool   `json:"background,omitempty" jsonschema:"let it run on and answer at once"`
	Ignored       bool   `json:"include_ignored,omitempty" jsonschema:"tell also what it changed among the files that ignore rules leave out"`
	Unfenced      bool   `json:"unfenced,omitempty" jsonschema:"ask a person to let this one command run outside of the fence; needs justification"`
	Justification string `json:"justification,omitempty" jsonschema:"one sentence for the person who is asked" max:"1000"`
}

// Shell returns the tool shell, which bash is another name of.
func Shell() tool.Tool {
	return tool.Typed[shellArgs]{
		Spec: tool.Spec{
			Name: "shell", Title: "Run a command", Description: words(shellWords), Aliases: []string{"bash"},
			ArgAliases: map[string][]string{"command": {"cmd", "script"}, "workdir": {"cwd", "working_directory", "dir"}, "timeout_ms": {"timeout_millis"}, "timeout_secs": {"timeout"}, "background": {"run_in_background"}},
			Tags:       tags(), Effects: tool.Read | tool.Write | tool.Exec | tool.Network, Concurrency: tool.Exclusive,
			Timeout: MaxTimeout + margin, OutputBytes: 30_000,
		},
		Assess: assessShell,
		Handle: runShell,
	}.Tool()
}

// words fills in the numbers of a description.
func words(text string) string {
	return strings.NewReplacer(
		"{timeout}", strconv.Itoa(int(DefaultTimeout.Seconds())), "{max}", strconv.Itoa(int(MaxTimeout.Seconds())),
	).Replace(strings.TrimSpace(text))
}

func assessShell(ctx context.Context, in shellArgs) (tool.Act, error) {
	act, err := From(ctx).assess(in.Command, in.Workdir, in.Unfenced, in.Justification)
	if in.Description != "" {
		act.Summary += " — " + tool.Clip(in.Description)
	}
	return act, err
}

// limit is how long the command may run. Milliseconds count where they are
// given.
func (in *shellArgs) limit() time.Duration {
	if in.TimeoutMS > 0 {
		return time.Duration(in.TimeoutMS) * time.Millisecond
	}
	return time.Duration(in.Timeout) * time.Second
}

// assess is the act of a command in the shell.
func (k *Kit) assess(command, dir string, unfenced bool, justification string) (tool.Act, error) {
	if strings.TrimSpace(command) == "" {
		return tool.Act{}, tool.Invalidf("the command is empty")
	}
	if strings.ContainsRune(command, 0) {
		return tool.Act{}, tool.Invalidf("the command has a NUL byte, which no program can be given")
	}
	if unfenced && strings.TrimSpace(justification) == "" {
		return tool.Act{}, tool.Invalidf("unfenced needs a justification: one sentence that says to a person why this command must run outside of the fence")
	}
	if unfenced && k.Free == nil {
		return tool.Act{}, errNoneOutside()
	}
	if _, err := k.judgeWrites(command); err != nil {
		return tool.Act{}, err
	}
	summary := "run " + tool.Clip(command)
	if unfenced {
		summary = "run OUTSIDE OF THE FENCE: " + tool.Clip(command) + " (" + tool.Clip(justification) + ")"
	}
	act := k.act(summary, unfenced)
	act.Command, act.Dir = command, dir
	return act, nil
}

func runShell(ctx context.Context, call *tool.Call, in shellArgs) (*tool.Result, error) {
	s := readScript(in.Command)
	r, err := newRun(ctx, call, in.Workdir)
	if err != nil {
		return nil, err
	}
	advice, err := r.kit.judgeWrites(in.Command)
	if err != nil {
		return nil, err
	}
	r.outside, r.ignored = in.Unfenced, in.Ignored
	r.script(&s, false)
	r.enter(ctx, s.cd)
	r.text = in.Command
	if in.Background || s.background {
		return r.runBehind(ctx)
	}
	r.options.Limit = in.limit()
	r.options.Live = progress(ctx, call)
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	r.wait(ctx)
	res, err := r.result(ctx)
	if err == nil && advice != "" && len(res.Changed) > 0 {
		res.Text += "\n" + advice
	}
	return res, err
}

// runBehind starts a command that runs on.
func (r *run) runBehind(ctx context.Context) (*tool.Result, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	e, err := r.kit.Commands.Add(r.process, r.call.Tool, r.text, process.Place{Fence: r.fence, Dir: r.dir, Outside: r.outside})
	if err != nil {
		_ = r.process.Close()
		return nil, tool.Errorf(tool.CodeCancelled, "not run: %w", err)
	}
	res := tool.Text(fmt.Sprintf("Started in the background, as the session %d.\n"+
		`write_stdin {"session_id": %d} reads what it says and tells when it has ended; with "end": true it is ended. It ends with the session.`, e.ID, e.ID))
	res.Metadata = map[string]any{"session_id": e.ID}
	return res, nil
}
