package exec

import (
	"context"
	_ "embed" // for the description
	"time"

	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed exec_command.md
var execCommandWords string

type execArgs struct {
	Cmd           string `json:"cmd" jsonschema:"the command, as it would be typed" min:"1" max:"500000"`
	Workdir       string `json:"workdir,omitempty" jsonschema:"folder to run in; the workspace's own if left out"`
	TTY           bool   `json:"tty,omitempty" jsonschema:"give it a terminal"`
	Stdin         bool   `json:"stdin,omitempty" jsonschema:"leave its input open for write_stdin; a terminal always has one"`
	Yield         int    `json:"yield_time_ms,omitempty" jsonschema:"milliseconds to wait for output or the end" min:"0" max:"600000" default:"10000"`
	Timeout       int    `json:"timeout_secs,omitempty" jsonschema:"seconds after which it is stopped; no limit if left out" min:"1" max:"86400"`
	MaxTokens     int    `json:"max_output_tokens,omitempty" jsonschema:"most text to return, in tokens of four bytes" min:"1"`
	Rows          int    `json:"rows,omitempty" jsonschema:"rows of the terminal" min:"1" max:"500" default:"24"`
	Cols          int    `json:"cols,omitempty" jsonschema:"columns of the terminal" min:"1" max:"1000" default:"80"`
	Unfenced      bool   `json:"unfenced,omitempty" jsonschema:"ask a person to let this one command run outside of the fence; needs justification"`
	Justification string `json:"justification,omitempty" jsonschema:"one sentence for the person who is asked" max:"1000"`
}

// ExecCommand returns the tool exec_command.
func ExecCommand() tool.Tool {
	return tool.Typed[execArgs]{
		Spec: tool.Spec{
			Name: "exec_command", Title: "Start a command to talk to", Description: words(execCommandWords),
			ArgAliases: map[string][]string{"cmd": {"command"}, "workdir": {"cwd", "dir"}, "yield_time_ms": {"yield"}, "timeout_secs": {"timeout"}},
			Tags:       tags(), Effects: tool.Read | tool.Write | tool.Exec | tool.Network, Concurrency: tool.Exclusive,
			Timeout: MaxTimeout + margin, OutputBytes: outputBytes,
		},
		Assess: func(ctx context.Context, in execArgs) (tool.Act, error) {
			return From(ctx).assess(in.Cmd, in.Workdir, in.Unfenced, in.Justification)
		},
		Handle: runExec,
	}.Tool()
}

func runExec(ctx context.Context, call *tool.Call, in execArgs) (*tool.Result, error) {
	s := readScript(in.Cmd)
	r, err := newRun(ctx, call, in.Workdir)
	if err != nil {
		return nil, err
	}
	if _, err := r.kit.judgeWrites(in.Cmd); err != nil {
		return nil, err
	}
	s.text = in.Cmd // a session is in the background as it is
	r.outside = in.Unfenced
	r.script(&s, in.TTY)
	r.enter(ctx, s.cd)
	r.text = in.Cmd
	r.options.Open = in.Stdin && !in.TTY
	r.options.Limit = time.Duration(in.Timeout) * time.Second
	r.options.Live = progress(ctx, call)
	if in.TTY {
		r.options.Spec.Terminal = &sandbox.Size{Rows: uint16(in.Rows), Cols: uint16(in.Cols)}
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	e, err := r.kit.Commands.Add(r.process, call.Tool, in.Cmd, process.Place{Fence: r.fence, Dir: r.dir, Outside: r.outside})
	if err != nil {
		_ = r.process.Close()
		return nil, tool.Errorf(tool.CodeCancelled, "not run: %w", err)
	}
	e, done, err := r.kit.Commands.Talk(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	t := &talk{kit: r.kit, call: call, entry: e, tokens: in.MaxTokens, tty: in.TTY}
	t.wait(ctx, time.Duration(in.Yield)*time.Millisecond, false)
	return t.answer(ctx, r.watching.After(ctx)), nil
}
