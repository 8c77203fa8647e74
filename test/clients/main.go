// Command clients runs real MCP clients against `handrail mcp`, each with a
// scripted model on loopback: what reaches the model and what our server
// records is compared with what should.
//
//	clients -handrail bin/handrail -modules bin/clients/node_modules [claude codex …]
//
// The folder of modules has the clients and node of version 22. Nothing of
// the person's own settings is read: every program gets a home of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := check(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check runs the named subjects, or all.
func check(ctx context.Context, args []string) error {
	var p place
	flags := flag.NewFlagSet("clients", flag.ExitOnError)
	flags.StringVar(&p.handrail, "handrail", "bin/handrail", "our program")
	flags.StringVar(&p.modules, "modules", "bin/clients/node_modules", "folder with the clients")
	flags.DurationVar(&p.patience, "patience", 2*time.Minute, "how long one run of a client may take")
	keep := flags.String("keep", "", "folder that keeps what the runs leave, requests and outputs")
	_ = flags.Parse(args) // exits by itself
	chosen, err := choose(flags.Args())
	if err != nil {
		return err
	}
	for _, path := range []*string{&p.handrail, &p.modules, keep} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	p.scratch = *keep
	if p.scratch == "" {
		if p.scratch, err = os.MkdirTemp("", "clients-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(p.scratch) }()
	}
	ours, err := p.tools(ctx)
	if err != nil {
		return err
	}
	failed := 0
	for _, s := range chosen {
		r := &report{who: s.name}
		start := time.Now()
		s.check(ctx, p, ours, r)
		for _, problem := range r.problems {
			fmt.Println(problem)
		}
		verdict := "ok"
		if len(r.problems) > 0 {
			verdict = fmt.Sprintf("%d problems", len(r.problems))
			failed++
		}
		fmt.Printf("%s: %s (%.0f s): %s\n", s.name, verdict, time.Since(start).Seconds(), strings.Join(r.done, "; "))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, len(chosen))
	}
	return nil
}

// subject is one thing to check.
type subject struct {
	name  string
	check func(ctx context.Context, p place, ours []string, r *report)
}

func subjects() []subject {
	var all []subject
	for _, c := range clients {
		all = append(all, subject{c.name, c.check})
	}
	return append(all, subject{"vscode", checkVSCode}, subject{"inspector", checkInspector}, subject{"resources", checkResources})
}

// choose returns the subjects of these names, or all.
func choose(names []string) ([]subject, error) {
	all := subjects()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []subject
	var known []string
	for _, s := range all {
		known = append(known, s.name)
		if slices.Contains(names, s.name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// tools are the names of what our server shows with the scenario's settings.
func (p place) tools(ctx context.Context) ([]string, error) {
	home := filepath.Join(p.scratch, "tools")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	c := command{dir: home, env: []string{"HOME=" + home}, args: []string{p.handrail, "tools", "--json"},
		output: filepath.Join(home, "out"), patience: p.patience}
	out, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("reading the list of our tools: %w", err)
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	if names == nil {
		return nil, errors.New("our own list of tools is empty")
	}
	return names, nil
}
