package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

func newExplain(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "explain TOOL [JSON | - | KEY=VALUE ...]",
		Short: "Say how a call would be judged, and by which rule; nothing runs",
		Long: "Say how a call would be judged: the verdict of each step of its journey and the rule behind it.\n" +
			"Nothing runs and nobody is asked. The exit code is 0 where the call would run, 3 where it would\n" +
			"be refused, 5 where a person would be asked, 2 where it is malformed.",
		Args:              needsTool,
		ValidArgsFunction: f.completeCall,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := f.open(cmd.Context(), handrail.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			raw, err := t.arguments(cmd.Context(), s.Specs(), args[0], args[1:])
			if err != nil {
				return usage(err)
			}
			e := s.Explain(cmd.Context(), handrail.Call{Tool: args[0], Args: raw})
			if f.json {
				err = t.printJSON(newExplanationJSON(args[0], e))
			} else {
				t.printExplanation(args[0], e)
			}
			return errors.Join(err, exitWith(explainCode(e)))
		},
	}
}

func explainCode(e handrail.Explanation) int {
	switch {
	case e.Code != "":
		return exitCode(e.Code)
	case e.Outcome == handrail.Allow:
		return exitOK
	case e.Outcome == handrail.Ask:
		return exitAsked
	default:
		return exitDenied
	}
}

// explanationJSON is what `explain --json` prints.
type explanationJSON struct {
	Tool    string          `json:"tool"`
	Outcome string          `json:"outcome"`
	Code    tool.Code       `json:"code"`
	Steps   []judgementJSON `json:"steps"`
}

type judgementJSON struct {
	Step    string `json:"step"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`
	Detail  string `json:"detail"`
}

func newExplanationJSON(asked string, e handrail.Explanation) explanationJSON {
	out := explanationJSON{Tool: e.Tool, Outcome: e.Outcome.String(), Code: e.Code, Steps: make([]judgementJSON, 0, len(e.Steps))}
	if out.Tool == "" {
		out.Tool = asked
	}
	for _, s := range e.Steps {
		out.Steps = append(out.Steps, judgementJSON{s.Step, s.Verdict, s.Rule, s.Detail})
	}
	return out
}

func (t *terminal) printExplanation(asked string, e handrail.Explanation) {
	rows := make([][]string, 0, len(e.Steps))
	for _, s := range e.Steps {
		if s.Verdict == "not taken" && s.Detail == "" {
			continue // what only acts has nothing to say about a call that does not run
		}
		detail := visible(s.Detail)
		if s.Rule != "" {
			detail = fmt.Sprintf("%s (rule: %s)", detail, visible(s.Rule))
		}
		rows = append(rows, []string{s.Step, s.Verdict, detail})
	}
	t.table(rows, func(_, column int, cell string) string {
		if column != 1 {
			return cell
		}
		return t.verdict(cell)
	})
	switch explainCode(e) {
	case exitOK:
		fmt.Fprintln(t.out, t.good("The call would run."))
	case exitAsked:
		fmt.Fprintln(t.out, t.warn("A person would be asked."))
	case exitUsage:
		fmt.Fprintln(t.out, t.bad(fmt.Sprintf("%s would be refused: %s.", visible(asked), e.Code)))
	default:
		fmt.Fprintln(t.out, t.bad("The call would be refused."))
	}
}

func (t *terminal) verdict(word string) string {
	switch word {
	case "ok":
		return t.good(word)
	case "ask":
		return t.warn(word)
	case "refused":
		return t.bad(word)
	default:
		return word
	}
}
