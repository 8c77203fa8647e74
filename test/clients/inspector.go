package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// inspection is one question of the Inspector, and what must stand in the
// answer.
type inspection struct {
	args  []string
	shows string
}

var (
	inspections = []inspection{
		{[]string{"--method", "tools/list", "--strict"}, `"read_file"`},
		{[]string{"--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=notes.txt"}, "the answer is 42"},
	}
	resourceInspections = []inspection{
		{[]string{"--method", "resources/list"}, "notes.txt"},
		{[]string{"--method", "prompts/list"}, `"handrail_safety"`},
	}
)

// checkInspector asks the official Inspector, in both eras and over both
// transports, for the tools and for a call.
func checkInspector(ctx context.Context, p place, _ []string, r *report) {
	inspect(ctx, p, r, inspections)
}

// checkResources asks the Inspector in the same way for resources and
// prompts.
func checkResources(ctx context.Context, p place, _ []string, r *report) {
	inspect(ctx, p, r, resourceInspections)
}

func inspect(ctx context.Context, p place, r *report, questions []inspection) {
	run := &run{place: p, dir: filepath.Join(p.scratch, r.who)}
	run.home, run.files = filepath.Join(run.dir, "home"), filepath.Join(run.dir, "files")
	err := errors.Join(os.MkdirAll(run.home, 0o755), run.write(filepath.Join(run.files, "notes.txt"), "the answer is 42\n"))
	if err != nil {
		r.failed("files", err)
		return
	}
	url, end, err := run.serve(ctx)
	if err != nil {
		r.failed("server", err)
		return
	}
	stdio := []string{run.handrail, "mcp", "-w", run.files}
	for _, era := range []string{"legacy", "modern"} {
		for transport, target := range map[string][]string{"stdio": stdio, "http": {url, "--transport", "http"}} {
			for _, q := range questions {
				step := strings.Join(append([]string{era, transport}, q.args...), " ")
				r.ask(ctx, run, step, era, target, q)
			}
		}
	}
	r.failed("end of the server", end())
	r.gone(run)
	r.did("%d questions in both eras over stdio and HTTP", len(questions))
}

func (r *report) ask(ctx context.Context, run *run, step, era string, target []string, q inspection) {
	args := append([]string{filepath.Join(run.modules, ".bin", "mcp-inspector"), "--cli"}, target...)
	args = append(append(args, "--protocol-era", era), q.args...)
	env := []string{"MCP_CATALOG_PATH=" + filepath.Join(run.home, "catalog.json")}
	out, err := run.command("inspector", env, args...).run(ctx)
	r.failed(step, err)
	if err == nil && !strings.Contains(out, q.shows) {
		r.wrong(step, q.shows, out)
	}
}

// checkVSCode looks at what is written for VS Code, which has no program to
// ask here.
func checkVSCode(ctx context.Context, p place, _ []string, r *report) {
	run := &run{place: p, dir: filepath.Join(p.scratch, "vscode")}
	run.home, run.files = filepath.Join(run.dir, "home"), filepath.Join(run.dir, "files")
	if err := errors.Join(os.MkdirAll(run.home, 0o755), os.MkdirAll(run.files, 0o755)); err != nil {
		r.failed("files", err)
		return
	}
	_, err := run.command("install", nil, run.handrail, "mcp", "install", "vscode", "--yes", "-w", run.files).run(ctx)
	r.failed("install", err)
	data, err := os.ReadFile(filepath.Join(run.files, ".vscode", "mcp.json"))
	r.failed("install", err)
	var got struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
		}
	}
	r.failed("install", json.Unmarshal(data, &got))
	s := got.Servers["handrail"]
	want := fmt.Sprintf("stdio %s mcp --workspace %s", run.handrail, run.files)
	if is := strings.Join(append([]string{s.Type, s.Command}, s.Args...), " "); is != want {
		r.wrong("install", want, is)
	}
	r.did("the entry is written")
}
