package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
)

// Commands is where the commands of hooks run.
type Commands struct {
	// Fence is the session's, Free the one of commands that an operator let
	// out of it.
	Fence, Free func(context.Context) (sandbox.Fence, error)
	// Environment is what they get to know of that of this process.
	Environment process.Environment
	// Watch looks at the workspace before commands run after a call, and its
	// function tells what they changed, with lines for the model. nil looks
	// at nothing.
	Watch func(context.Context) (after func(context.Context) (changed, lines []string), err error)
}

// run runs a command with its input and sees it and all that it starts to
// their end. Both of its outputs are read while it runs.
func (c *Commands) run(ctx context.Context, h *Hook, root string, input []byte, limit time.Duration) (reply, error) {
	where := c.Fence
	if h.Unfenced {
		where = c.Free
	}
	fence, err := where(ctx)
	if err != nil {
		return reply{}, fmt.Errorf("it was not started: %w", err)
	}
	env, _ := c.Environment.Build(false)
	env = append(append(env, fence.Report().Env...), "CLAUDE_PROJECT_DIR="+root, "HANDRAIL_PROJECT_DIR="+root)
	spec := sandbox.Spec{Path: h.Command, Argv: append([]string{h.Command}, h.Args...), Env: env, Dir: root}
	if h.Args == nil {
		spec.Path, spec.Argv = process.Shell(), []string{filepath.Base(process.Shell()), "-c", h.Command}
	}
	p, err := process.Start(ctx, fence, process.Options{
		Spec: spec, Stdin: input, SplitStderr: true, Head: MaxAnswer, Tail: 1, Limit: limit,
	})
	if err != nil {
		return reply{}, fmt.Errorf("it was not started: %w", err)
	}
	defer func() { _ = p.Close() }()
	select {
	case <-p.Ended():
	case <-ctx.Done():
		_ = p.Stop("cancelled")
		<-p.Ended()
		return reply{}, context.Cause(ctx)
	}
	exit, err := p.Exit()
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("the fence failed while it ran: %w", err)
	case p.Stopped() == process.LimitReached:
		return reply{}, noAnswer(limit)
	case exit.Signal != 0:
		return reply{}, fmt.Errorf("it was ended by signal %d (%s)", exit.Signal, exit.Signal)
	case p.Output().Size() > MaxAnswer:
		return reply{}, fmt.Errorf("its answer is %d bytes; at most %d are read", p.Output().Size(), MaxAnswer)
	case p.Output().Binary() && exit.Code == 0:
		return reply{}, errors.New("its answer is not text")
	}
	return reply{exit.Code, p.Output().Text(), p.Errors().Text()}, nil
}

func noAnswer(limit time.Duration) error { return fmt.Errorf("no answer within %s", limit) }

// whole reads an answer of at most [MaxAnswer] bytes.
func whole(from io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(from, MaxAnswer+1))
	if err == nil && len(data) > MaxAnswer {
		err = fmt.Errorf("its answer is longer than %d bytes", MaxAnswer)
	}
	return string(data), err
}
