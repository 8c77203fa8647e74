package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/keyvalue"
	"github.com/handrail-tools/handrail/tool"
)

func newCall(t *terminal, f *flags) *cobra.Command {
	var save string
	cmd := &cobra.Command{
		Use:   "call TOOL [JSON | - | KEY=VALUE ...]",
		Short: "Call a tool and print its result",
		Long: "Call a tool. Its arguments are one JSON object, the object read from standard input (-), or\n" +
			"words: KEY=VALUE typed by the tool's schema, KEY=VALUE again for a list, KEY.SUB=VALUE inside an\n" +
			"object, KEY:=JSON for anything.\n\n" + exitHelp,
		Example: "  handrail call read_file path=go.mod\n" +
			"  handrail call grep pattern='func main' --json\n" +
			"  echo '{\"path\":\"go.mod\"}' | handrail call read_file -",
		Args:              needsTool,
		ValidArgsFunction: f.completeCall,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.callTool(cmd.Context(), f, args[0], save, func(specs []handrail.Spec) (json.RawMessage, error) {
				return t.arguments(cmd.Context(), specs, args[0], args[1:])
			})
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "folder to write images of the result to")
	_ = cmd.MarkFlagDirname("save")
	f.registerAsking(cmd)
	return cmd
}

// callTool runs one call and prints its result. arguments is given the tools
// of the session. Images are written to the folder save, unless it is "".
func (t *terminal) callTool(ctx context.Context, f *flags, asked, save string, arguments func([]handrail.Spec) (json.RawMessage, error)) error {
	progress, known := t.newProgress(), &names{}
	s, _, err := f.open(ctx, handrail.Options{
		Approver: t.approver(progress),
		OnEvent:  func(e handrail.Event) { known.observe(e); progress.observe(e); t.noteWait(f, e) },
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	raw, err := arguments(s.Specs())
	if err != nil {
		return usage(err)
	}
	r := s.Run(ctx, handrail.Call{ID: "call", Tool: asked, Args: raw})[0]
	progress.clear()
	name := known.name("call", asked)
	media, err := saveMedia(save, name, r.Media)
	if err != nil {
		return failure(err)
	}
	if f.json {
		err = t.printJSON(newResultJSON("", name, r, media))
	} else {
		t.printResult(name, r, media)
	}
	return errors.Join(err, exitWith(exitCode(r.Code)))
}

func needsTool(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("which tool? `handrail tools` lists them")
	}
	return nil
}

// arguments returns the JSON that the words after the tool's name stand for.
func (t *terminal) arguments(ctx context.Context, specs []handrail.Spec, name string, words []string) (json.RawMessage, error) {
	switch {
	case len(words) == 1 && words[0] == "-":
		return readArguments(withdrawable{ctx, t.in})
	case len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
		return json.RawMessage(words[0]), nil
	}
	var schema json.RawMessage
	if spec := specOf(specs, name); spec != nil {
		schema = spec.Input
	}
	return keyvalue.Parse(schema, words)
}

// readArguments reads one object. It takes a byte more than a call may have,
// so that the journey refuses what is too large as it does everywhere.
func readArguments(r io.Reader) (json.RawMessage, error) {
	raw, err := io.ReadAll(io.LimitReader(r, tool.MaxArgs+1))
	if err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	return raw, nil
}

// specOf returns the tool that is shown under a name or has it as an alias.
func specOf(specs []handrail.Spec, name string) *handrail.Spec {
	for i := range specs {
		if specs[i].Name == name {
			return &specs[i]
		}
	}
	for i := range specs {
		if slices.Contains(specs[i].Aliases, name) {
			return &specs[i]
		}
	}
	return nil
}
