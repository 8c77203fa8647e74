package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/permission"
)

func newPolicy(t *terminal, f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check the rules, test them, or take over those of Claude Code and Codex",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheck(t, f), newPolicyTest(t, f), newPolicyImport(t, f))
	return cmd
}

func newPolicyCheck(t *terminal, f *flags) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report rules that do not do what they seem to",
		Long: "Report rules that do not do what they seem to: dead and shadowed ones, those that say what others\n" +
			"say, those that another spelling slips past, those that allow more than their words, and what\n" +
			"the files under \"import\" mean otherwise here. The exit code is 0 where there is nothing but\n" +
			"advice and wide rules (with --strict not even these), 1 where there is something, and 2 where\n" +
			"the settings cannot be read at all.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, l, err := f.open(cmd.Context(), handrail.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			found, err := s.CheckRules()
			if err != nil {
				return usage(errors.New(l.Locate(err.Error())))
			}
			count := 0
			for _, one := range found {
				if strict || one.Kind != permission.Wide && one.Kind != permission.Advice {
					count++
				}
			}
			if f.json {
				err = t.printJSON(newCheckJSON(l, found))
			} else {
				t.printFindings(l, found)
			}
			if count > 0 {
				return errors.Join(err, exitWith(exitFailed))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "count wide rules and advice too")
	return cmd
}

// checkJSON is what `policy check --json` prints.
type checkJSON struct {
	Rules    int           `json:"rules"`
	Findings []findingJSON `json:"findings"`
	Notes    []noteJSON    `json:"notes"`
}

type findingJSON struct {
	List  string                 `json:"list"`
	Rule  string                 `json:"rule"`
	Kind  permission.FindingKind `json:"kind"`
	Text  string                 `json:"text"`
	Place string                 `json:"place"`
}

type noteJSON struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func ruleCount(l *config.Loaded) int {
	return len(l.Permission.Allow) + len(l.Permission.Ask) + len(l.Permission.Deny)
}

func newCheckJSON(l *config.Loaded, found []handrail.RuleFinding) checkJSON {
	out := checkJSON{Rules: ruleCount(l), Findings: []findingJSON{}, Notes: []noteJSON{}}
	for _, one := range found {
		out.Findings = append(out.Findings, findingJSON{one.List, one.Rule, one.Kind, one.Text, l.Place(one.List, one.Rule)})
	}
	for _, n := range l.Notes {
		out.Notes = append(out.Notes, noteJSON{n.File, n.Line, n.Text})
	}
	return out
}

func (t *terminal) printFindings(l *config.Loaded, found []handrail.RuleFinding) {
	for _, one := range found {
		word := string(one.Kind)
		switch one.Kind {
		case permission.Wide, permission.Redundant:
			word = t.warn(word)
		case permission.Advice:
		default:
			word = t.bad(word)
		}
		place := ""
		if at := l.Place(one.List, one.Rule); at != "" {
			place = "  " + visible(at)
		}
		fmt.Fprintf(t.out, "%s  %s %s%s\n    %s\n", word, one.List, t.bold(visible(one.Rule)), place, visible(one.Text))
	}
	for _, n := range l.Notes {
		fmt.Fprintf(t.out, "note  %s\n", visible(n.String()))
	}
	rules := ruleCount(l)
	switch {
	case rules == 0:
		fmt.Fprintln(t.out, "There are no permission rules.")
	case len(found) == 0:
		fmt.Fprintln(t.out, t.good(fmt.Sprintf("%s, nothing to report.", plural(rules, "rule"))))
	default:
		fmt.Fprintf(t.out, "%s in %s.\n", plural(len(found), "finding"), plural(rules, "rule"))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func newPolicyImport(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE ...",
		Short: "Print the rules of Claude Code or Codex as settings of Handrail",
		Long: "Print the rules of Claude Code (settings.json) or Codex (*.rules) as settings of Handrail. What\n" +
			"cannot be carried over is said on standard error; a rule that refuses or asks and has no\n" +
			"counterpart stops the import with exit code 2. Paths are seen from the workspace (-w).\n\n" +
			"To have the files read anew each time instead, name them in the settings:\n" +
			"  \"import\": [\"~/.claude/settings.json\", \".claude/settings.json\"]",
		Example: "  handrail policy import ~/.claude/settings.json .claude/settings.json\n" +
			"  handrail policy import ~/.codex/rules/default.rules > rules.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, notes, problems := readForeign(f.workspace, args)
			if len(problems) > 0 {
				return usage(problems)
			}
			for _, n := range notes {
				fmt.Fprintf(t.err, "%s %s\n", t.faint("note:"), visible(n.String()))
			}
			raw, err := json.MarshalIndent(newImported(all), "", "  ")
			if err != nil {
				return failure(err)
			}
			fmt.Fprintf(t.out, "%s\n", raw)
			return nil
		},
	}
}

// readForeign reads files of other systems and joins their lists. Of scalars
// the last one counts.
func readForeign(workspace string, names []string) (all config.Settings, notes, problems config.Problems) {
	home, _ := os.UserHomeDir() // without a home, ~ has no meaning
	read := importer(workspace, home)
	for _, name := range names {
		data, err := readForeignFile(name)
		if err != nil {
			problems = append(problems, config.Problem{File: name, Text: err.Error()})
			continue
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			problems = append(problems, config.Problem{File: name, Text: err.Error()})
			continue
		}
		s, ns, ps := read(abs, data)
		for _, n := range ns {
			n.File = name
			notes = append(notes, n)
		}
		for _, p := range ps {
			p.File = name
			problems = append(problems, p)
		}
		all.Join(s)
	}
	return all, notes, problems
}

// readForeignFile reads one byte more than a settings file may have, so that
// what is too large is refused by those who read it.
func readForeignFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, config.MaxFile+1))
}

// imported is a settings file with what an import brings.
type imported struct {
	Permission importedPermission `json:"permission"`
	Workspace  *importedWorkspace `json:"workspace,omitempty"`
}

type importedPermission struct {
	Mode     string   `json:"mode,omitempty"`
	Approval string   `json:"approval,omitempty"`
	Allow    []string `json:"allow,omitempty"`
	Ask      []string `json:"ask,omitempty"`
	Deny     []string `json:"deny,omitempty"`
}

type importedWorkspace struct {
	Granted []string `json:"granted"`
}

func newImported(s config.Settings) imported {
	out := imported{Permission: importedPermission(s.Permission)}
	if granted := slices.Compact(s.Workspace.Granted); len(granted) > 0 {
		out.Workspace = &importedWorkspace{granted}
	}
	return out
}
