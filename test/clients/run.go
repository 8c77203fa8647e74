package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/test/clients/model"
)

// place is where everything is: our binary, the clients' programs, and a
// folder for what a run leaves.
type place struct {
	handrail, modules, scratch string
	// patience is how long one run of a program may take.
	patience time.Duration
}

// run is one client at work in a home and a project of its own.
type run struct {
	place
	client client
	dir    string // what the run leaves
	home   string
	files  string // the project, which is the workspace
	script []step
	model  *model.Server
	// leave says that the person lets the client use every tool of ours.
	leave bool
	// server is where our server is reached over HTTP, and end ends it; both
	// are empty where the client starts it by itself.
	server string
	end    func() error
}

// newRun makes the folders of a run, starts its model, and has our server
// entered into the client's settings by `handrail mcp install`, or, over HTTP,
// started and entered by hand.
func newRun(ctx context.Context, p place, c client, label string, script []step, http bool) (*run, error) {
	dir := filepath.Join(p.scratch, c.name+"-"+label)
	r := &run{place: p, client: c, dir: dir, home: filepath.Join(dir, "home"), files: filepath.Join(dir, "files"), script: script, leave: true}
	for _, folder := range []string{r.home, r.files} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(furnish(r.files), r.write(filepath.Join(r.home, ".config", "handrail", "config.json"), settings)); err != nil {
		return nil, err
	}
	var err error
	if r.model, err = model.Start(c.form, r.next, filepath.Join(dir, "requests.jsonl")); err != nil {
		return nil, err
	}
	if c.furnish != nil {
		err = c.furnish(r)
	}
	if err == nil {
		err = r.enter(ctx, http)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// enter enters our server into the client's settings.
func (r *run) enter(ctx context.Context, http bool) error {
	if http {
		tokenFile := filepath.Join(r.dir, "token")
		err := r.write(tokenFile, token+"\n")
		if err == nil {
			r.server, r.end, err = r.serve(ctx, "--token-file", tokenFile)
		}
		if err != nil {
			return err
		}
		return r.client.remote(r)
	}
	_, err := r.command("install", nil, r.handrail, "mcp", "install", r.client.name, "--yes", "-w", r.files).run(ctx)
	if err == nil && r.client.adjust != nil {
		err = r.client.adjust(r)
	}
	return err
}

// close ends what the run has started.
func (r *run) close() error {
	err := r.model.Close()
	if r.end != nil {
		err = errors.Join(err, r.end())
	}
	return err
}

// command is a program of the run. env is laid over what every one gets.
func (r *run) command(label string, env []string, args ...string) command {
	all := []string{"HOME=" + r.home, "PATH=" + filepath.Join(r.modules, ".bin") + ":" + os.Getenv("PATH"), "TERM=dumb", "NO_COLOR=1"}
	all = append(append(all, r.client.env...), env...)
	return command{dir: r.files, args: args, output: filepath.Join(r.dir, label+".out"), env: all, patience: r.patience}
}

// program is the client's program.
func (r *run) program() string { return filepath.Join(r.modules, ".bin", r.client.name) }

// prompted is the client at work on the task.
func (r *run) prompted() command {
	args, env := r.client.prompt(r)
	return r.command("run", env, append([]string{r.program()}, args...)...)
}

// keptID is how the id of a kept result looks.
var keptID = regexp.MustCompile(`r_[0-9a-z]{12}\b`)

// next is the script of the model: the step after the last result.
func (r *run) next(seen model.Request) *model.Call {
	n := len(seen.Results)
	if n >= len(r.script) {
		return nil
	}
	s := r.script[n]
	want := r.client.shown(s.tool)
	args := []byte(s.args)
	if n > 0 {
		args = bytes.ReplaceAll(args, []byte("{id}"), keptID.Find([]byte(seen.Results[n-1].Text)))
	}
	return &model.Call{Space: want.Space, Name: want.Name, Args: args}
}

// listed begins the id of a call by which our server answers a question for
// resources. Claude Code asks for all pages of them when it connects.
const listed = "resource_"

// recorded is what our server wrote into its log of the model's calls, the
// oldest first.
func (r *run) recorded(ctx context.Context) ([]handrail.LogEntry, error) {
	out, err := r.command("log", nil, r.handrail, "log", "--json", "--limit", "100", "-w", r.files).run(ctx)
	if err != nil {
		return nil, err
	}
	var entries []handrail.LogEntry
	for d := json.NewDecoder(bytes.NewReader([]byte(out))); d.More(); {
		var e handrail.LogEntry
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("reading the log: %w", err)
		}
		if !strings.HasPrefix(e.Call, listed) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// settle waits until the log has n calls, for at most ten seconds: the server
// of a client that has gone needs a moment to end its call.
func (r *run) settle(ctx context.Context, n int) ([]handrail.LogEntry, error) {
	for deadline := time.Now().Add(10 * time.Second); ; {
		entries, err := r.recorded(ctx)
		if err != nil || len(entries) >= n || time.Now().After(deadline) {
			return entries, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// calling waits until the script has asked for a call and the client has had
// the time to make it.
func (r *run) calling(ctx context.Context) error {
	for r.model.Seen().Calls == 0 {
		select {
		case <-ctx.Done():
			return errors.New("the client never asked its model for a call")
		case <-time.After(50 * time.Millisecond):
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
	return nil
}

// listening is how our server says where it listens.
var listening = regexp.MustCompile(`serving MCP at (http://\S+)`)

// serve starts our server over HTTP. end stops it and says how it ended.
func (r *run) serve(ctx context.Context, flags ...string) (url string, end func() error, err error) {
	c := r.command("server", nil, append([]string{r.handrail, "mcp", "--http", "127.0.0.1:0", "-w", r.files}, flags...)...)
	cmd, out, err := c.start(ctx)
	if err != nil {
		return "", nil, err
	}
	end = func() error {
		err := syscall.Kill(cmd.Process.Pid, syscall.SIGTERM)
		return errors.Join(err, cmd.Wait(), out.Close())
	}
	for range 100 {
		text, err := os.ReadFile(c.output)
		if err != nil {
			return "", nil, errors.Join(err, end())
		}
		if at := listening.FindSubmatch(text); at != nil {
			return string(at[1]), end, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", nil, errors.Join(errors.New("our server does not say where it listens"), end())
}
