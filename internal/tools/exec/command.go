package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// The times of a command.
const (
	// DefaultTimeout is how long a command may run where the call says
	// nothing, MaxTimeout the most that a call may ask for; both are those of
	// octos.
	DefaultTimeout = 120 * time.Second
	MaxTimeout     = 600 * time.Second

	// margin is what a call may take beyond its command: the looks at the
	// workspace before and after.
	margin = 60 * time.Second

	// sigpipe is the status of a shell whose command was ended because nobody
	// read what it wrote.
	sigpipe = 128 + 13
)

// A run is one command between its start and its result.
type run struct {
	kit     *Kit
	call    *tool.Call
	dir     string // absolute; where its output's relative paths begin
	rel     string // as the model spells it
	text    string
	options process.Options
	outside bool // of the fence
	ignored bool // what ignore rules leave out is told too

	fence    sandbox.Fence
	process  *process.Process
	watching *witness.Watch
	withheld []string
}

// shellArgv returns the arguments that make the shell run a script, which is
// passed on as it is.
func shellArgv(s *script) []string {
	argv := []string{path.Base(process.Shell())} // which is how it calls itself in its errors
	if strings.HasSuffix(process.Shell(), "bash") && s.pipefail {
		argv = append(argv, "-o", "pipefail")
	}
	return append(argv, "-c", s.text)
}

// newRun prepares a command in a folder of the workspace.
func newRun(ctx context.Context, call *tool.Call, workdir string) (*run, error) {
	r := &run{kit: From(ctx), call: call}
	if workdir == "" {
		workdir = "."
	}
	at, err := workspace.From(ctx).Resolve(workdir)
	switch {
	case err != nil:
		return nil, tool.Invalidf("workdir: %w", err)
	case at.Unreadable != "":
		return nil, tool.Errorf(tool.CodeDenied, "workdir: %s is closed by the rule %q", tool.Clip(at.Rel), at.Unreadable)
	case !at.Exists:
		return nil, tool.Failf("workdir: there is no folder %s; leave workdir out to run in the workspace's own", tool.Clip(at.Rel))
	case !at.Mode.IsDir():
		return nil, tool.Failf("workdir: %s is a file; give the folder to run in", tool.Clip(at.Rel))
	}
	r.dir, r.rel = at.Abs, at.Rel
	return r, nil
}

// script makes the run start the shell with a command.
func (r *run) script(s *script, interactive bool) {
	r.program(shellArgv(s), interactive)
	r.options.Spec.Path, r.text = process.Shell(), s.text
}

// enter takes a command at its word that begins with a literal "cd DIR &&": it
// runs there. A folder that is not there, or not in the workspace, is left to
// the shell, which says so. It comes after script.
func (r *run) enter(ctx context.Context, dir string) {
	if dir == "" {
		return
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.dir, dir)
	}
	if at, err := workspace.From(ctx).Resolve(dir); err == nil && at.Exists && at.Mode.IsDir() && at.Unreadable == "" {
		r.dir, r.rel = at.Abs, at.Rel
	}
}

// program makes the run start a program.
func (r *run) program(argv []string, interactive bool) {
	r.text = strings.Join(argv, " ")
	env, withheld := r.kit.Environment.Build(interactive)
	r.withheld = withheld
	r.options.Spec = sandbox.Spec{Path: argv[0], Argv: argv, Env: env, Dir: r.dir, Keep: true}
	r.options.Spool = r.kit.Spool
}

// start starts the command, after a look at what there is.
func (r *run) start(ctx context.Context) error {
	var err error
	if r.watching, err = r.kit.Witness.Before(ctx, r.outside || r.kit.writes(), r.ignored); err != nil {
		return err
	}
	return r.startUnwatched(ctx)
}

// startUnwatched starts the command.
func (r *run) startUnwatched(ctx context.Context) error {
	var err error
	if r.fence, err = r.kit.fence(ctx, r.outside); err != nil {
		if e, ok := errors.AsType[*tool.Error](err); ok {
			return e
		}
		return tool.Errorf(tool.CodeFailed, "no command can be run in this session: %w. This is for the person to mend; do not try again.", err)
	}
	report := r.fence.Report()
	r.options.Spec.Env = r.kit.cached(process.Override(r.options.Spec.Env, report.Env), report)
	r.process, err = process.Start(ctx, r.fence, r.options)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		return tool.Failf("not run: %w", err)
	}
	return fmt.Errorf("starting a command: %w", err)
}

// wait waits until the command has ended, or ctx is done: then it is stopped,
// and with it all that it started.
func (r *run) wait(ctx context.Context) {
	select {
	case <-r.process.Ended():
	case <-ctx.Done():
		_ = r.process.Stop("cancelled")
		<-r.process.Ended()
	}
}

// progress tells a person, four times a second at most, what a command says:
// its last line, without what steers a terminal and without secrets.
func progress(ctx context.Context, call *tool.Call) func([]byte) {
	var mu sync.Mutex
	var told time.Time
	return func(p []byte) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(told) < 250*time.Millisecond {
			return
		}
		told = time.Now()
		text := strings.TrimRight(string(p), "\r\n \t")
		text, _ = output.Clean(text[strings.LastIndexAny(text, "\r\n")+1:])
		if text, _ = output.RedactorFrom(ctx).Redact(text); text != "" {
			call.Progress(tool.Progress{Message: tool.Clip(text)})
		}
	}
}

// result is the answer about a command that has ended.
func (r *run) result(ctx context.Context) (*tool.Result, error) {
	exit, err := r.process.Exit()
	if err != nil {
		_ = r.process.Close()
		return nil, tool.Failf("the fence failed while the command ran, so how it ended is not known: %w", err)
	}
	res := &tool.Result{Text: r.process.Output().Text(), Metadata: r.metadata(exit)}
	if strings.TrimSpace(res.Text) == "" {
		res.Text = "(no output)"
	}
	status, ok, code := r.status(exit)
	res.OK, res.Code = ok, code
	notes := []string{status}
	if r.rel != "." {
		notes = append(notes, "Ran in "+r.rel)
	}
	kept, refused := r.whole(ctx)
	notes = append(notes, kept...)
	notes = append(notes, r.denial(exit, refused, res)...)
	receipt := r.watching.After(ctx)
	res.Changed = receipt.Changed()
	notes = append(notes, receipt.Lines()...)
	notes = append(notes, r.background(exit)...)
	res.Text = strings.TrimRight(res.Text, "\n") + "\n\n" + strings.Join(notes, "\n")
	return res, nil
}

// status says how a command ended.
func (r *run) status(exit sandbox.Exit) (text string, ok bool, code tool.Code) {
	took := r.process.Duration().Round(10 * time.Millisecond)
	switch why := r.process.Stopped(); {
	case why == process.LimitReached:
		return fmt.Sprintf("Stopped after %s, the time limit of this call, with all that it had started. The output is what there was until then.", r.options.Limit),
			false, tool.CodeTimeout
	case why != "":
		return fmt.Sprintf("Stopped (%s) after %s, with all that it had started.", why, took), false, tool.CodeCancelled
	case exit.Signal == syscall.SIGKILL:
		return fmt.Sprintf("Killed by signal 9 after %s. Nobody here sent it: a limit of memory is the most common reason.", took), false, tool.CodeFailed
	case exit.Signal != 0:
		return fmt.Sprintf("Ended by signal %d (%s) after %s.", exit.Signal, exit.Signal, took), false, tool.CodeFailed
	case exit.Code == sigpipe && len(r.options.Spec.Argv) > 1 && r.options.Spec.Argv[1] == "-o":
		return "Exit code: 0 (an earlier command of the pipeline was ended because the next had read enough)", true, ""
	case exit.Code != 0:
		return fmt.Sprintf("Exit code: %d", exit.Code), false, tool.CodeFailed
	}
	return "Exit code: 0", true, ""
}

func (r *run) metadata(exit sandbox.Exit) map[string]any {
	m := map[string]any{
		"exit_code": exit.Code, "duration_ms": r.process.Duration().Milliseconds(),
		"user_ms": exit.User.Milliseconds(), "system_ms": exit.System.Milliseconds(), "max_rss_bytes": exit.MaxRSS,
		"disk_read_bytes": exit.ReadBlocks * 512, "disk_written_bytes": exit.WriteBlocks * 512,
		"output_bytes": r.process.Output().Size(), "fence": string(r.fence.Report().Driver),
	}
	if exit.Signal != 0 {
		m["signal"] = int(exit.Signal)
	}
	if len(r.withheld) > 0 {
		m["environment_withheld"] = r.withheld
	}
	return m
}

// whole looks through an output of which the result has only the beginning
// and the end, and puts it into the ledger.
func (r *run) whole(ctx context.Context) (notes []string, found []sandbox.Denial) {
	had, err := r.process.Output().Whole(func(from *io.SectionReader, capped bool) (err error) {
		found = r.scan(from)
		notes, err = r.kit.keep(ctx, r.call, from, capped)
		return err
	})
	if err != nil {
		notes = []string{"The whole output could not be kept."}
	}
	if !had {
		found = r.scan(strings.NewReader(r.process.Output().Text()))
	}
	return notes, found
}

// keep puts an output into the ledger, and says by which id it is found.
func (k *Kit) keep(ctx context.Context, call *tool.Call, whole io.ReadSeeker, capped bool) (notes []string, err error) {
	if k.Keep == nil {
		return nil, nil
	}
	size, err := whole.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = whole.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	id, err := k.Keep(context.WithoutCancel(ctx), call, whole)
	if err != nil {
		return nil, err
	}
	what := "The whole output"
	if capped {
		what = "The first part of the output"
	}
	return []string{fmt.Sprintf(`%s, %d bytes, is kept as the result %s; recall brings any part of it.`, what, size, id)}, nil
}

// background keeps what the command left running, or ends it with the call.
func (r *run) background(exit sandbox.Exit) []string {
	if !exit.Left || r.process.Stopped() != "" || !r.process.Left() {
		_ = r.process.Close()
		return nil
	}
	_, _ = r.process.Output().Take() // which this call has told
	e, err := r.kit.Commands.Add(r.process, r.call.Tool, r.text, process.Place{Fence: r.fence, Dir: r.dir, Outside: r.outside})
	if err != nil {
		_ = r.process.Close()
		return nil
	}
	return []string{fmt.Sprintf(`Processes that it started still run in the background, as the session %d: write_stdin {"session_id": %d} reads what they say, and with "end": true ends them.`, e.ID, e.ID)}
}
