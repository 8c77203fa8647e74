package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/approval"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/tool"
)

// flags are the flags that every sub-command has.
type flags struct {
	workspace, profile, config, mode, surface, stateDir string
	model, provider                                     string
	approval                                            string // of the sub-commands that have the flag
	json                                                bool
	only                                                *config.Given // settings in place of all files
	// queue and askFor are of the sub-commands that ask a person.
	queue  bool
	askFor time.Duration
}

func (f *flags) register(root *cobra.Command) {
	fs := root.PersistentFlags()
	fs.StringVarP(&f.workspace, "workspace", "w", ".", "folder that the tools work in")
	fs.StringVar(&f.profile, "profile", "", "profile of the settings to lay on top")
	fs.StringVar(&f.config, "config", "", "settings file, laid over the user's own")
	fs.StringVar(&f.mode, "mode", "", "what needs no question: read-only, workspace-write or full-access")
	fs.StringVar(&f.surface, "surface", "", "tool names and schemas to use: handrail or claude")
	fs.StringVar(&f.model, "model", "", "model that the tools are for, where a policy depends on it")
	fs.StringVar(&f.provider, "provider", "", "provider of that model")
	fs.StringVar(&f.stateDir, "state-dir", "", "folder that keeps results and the log")
	fs.BoolVar(&f.json, "json", false, "print JSON")

	words := func(list []string) cobra.CompletionFunc {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	// These fail only for a flag that does not exist.
	_ = root.RegisterFlagCompletionFunc("mode", words(config.Modes()))
	_ = root.RegisterFlagCompletionFunc("surface", words(config.Surfaces()))
	_ = root.MarkPersistentFlagDirname("workspace")
	_ = root.MarkPersistentFlagDirname("state-dir")
	_ = root.MarkPersistentFlagFilename("config", "json")
}

// load reads the settings in force.
func (f *flags) load() (*config.Loaded, error) {
	over := config.Settings{Surface: f.surface, Permission: config.Permission{Mode: f.mode, Approval: f.approval}}
	if err := errors.Join(oneOf("--mode", f.mode, config.Modes()), oneOf("--surface", f.surface, config.Surfaces())); err != nil {
		return nil, usage(err)
	}
	if f.stateDir != "" {
		dir, err := filepath.Abs(f.stateDir)
		if err != nil {
			return nil, failure(err)
		}
		over.StateDir = dir
	}
	home, _ := os.UserHomeDir() // without a home, ~ has no meaning
	l, err := config.Load(config.Request{
		Base: baseSettings(home), Workspace: f.workspace, UserFile: config.UserFile(), File: f.config,
		Home: home, Profile: f.profile, Flags: over, Import: importer(f.workspace, home), Given: f.only,
	})
	return l, usage(err)
}

// open starts a session with the settings in force. Close it.
func (f *flags) open(ctx context.Context, o handrail.Options) (*handrail.Session, *config.Loaded, error) {
	l, err := f.load()
	if err != nil {
		return nil, nil, err
	}
	o.Workspace, o.Model, o.Provider = f.workspace, f.model, f.provider
	if o.Origin.Kind == "" {
		o.Origin.Kind = tool.OriginCLI
	}
	if err := applySettings(&o, l.Settings); err != nil {
		return nil, nil, usage(errors.New(l.Locate(err.Error())))
	}
	o.Queue, o.AskFor = f.queue, f.askFor
	books := bookDir()
	o.Files.Closed = l.Closed
	if o.Commands.Off {
		withoutCommands(&o.Permission, l)
	}
	if books != "" {
		o.Files.Closed = append(o.Files.Closed, books)
		if f.workspace != "" && !l.AllowFixed {
			if book, err := approval.OpenBook(books, f.workspace); err == nil { // else there is no such folder, which Open says
				o.Rules = book
			}
		}
	}
	s, err := handrail.Open(ctx, o)
	if err != nil {
		return nil, nil, usage(errors.New(l.Locate(err.Error())))
	}
	return s, l, nil
}

// bookDir is where the rules are kept that a person has allowed for always,
// beside the user's own settings; "" on a machine that has no place for them.
func bookDir() string {
	file := config.UserFile()
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "workspaces")
}

// registerAsking adds the flags of sub-commands that may ask a person.
func (f *flags) registerAsking(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.queue, "queue", false, "put questions also where 'handrail approvals' answers them")
	cmd.Flags().DurationVar(&f.askFor, "ask-for", 0, "how long a question waits for its answer, as 10m; 0 as long as the call is wanted")
}

func oneOf(flag, value string, words []string) error {
	if value == "" {
		return nil
	}
	for _, w := range words {
		if w == value {
			return nil
		}
	}
	return fmt.Errorf("%s cannot be %q%s", flag, value, orWords(value, words))
}
