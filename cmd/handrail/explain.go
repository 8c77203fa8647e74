package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/permission"
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
	// Tried are the rules that were asked, for each part of the call.
	Tried []tracedJSON `json:"tried,omitempty"`
}

type tracedJSON struct {
	Part  string      `json:"part"`
	Knows string      `json:"knows"`
	Rules []trialJSON `json:"rules"`
	More  int         `json:"more"`
}

type trialJSON struct {
	List string `json:"list"`
	Rule string `json:"rule"`
	Says string `json:"says"`
	Why  string `json:"why"`
}

func newExplanationJSON(asked string, e handrail.Explanation) explanationJSON {
	out := explanationJSON{Tool: e.Tool, Outcome: e.Outcome.String(), Code: e.Code, Steps: make([]judgementJSON, 0, len(e.Steps))}
	if out.Tool == "" {
		out.Tool = asked
	}
	for _, s := range e.Steps {
		step := judgementJSON{Step: s.Step, Verdict: s.Verdict, Rule: s.Rule, Detail: s.Detail}
		for _, part := range s.Tried {
			rules := make([]trialJSON, len(part.Tried))
			for i, one := range part.Tried {
				rules[i] = trialJSON(one)
			}
			step.Tried = append(step.Tried, tracedJSON{part.Part, part.Knows, rules, part.More})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// printTree shows the steps of a journey, and beneath the step that asks the
// rules what each rule said about each part of the call.
func (t *terminal) printTree(indent string, e handrail.Explanation) {
	rows := make([][]string, 0, len(e.Steps))
	var tried []permission.Traced
	for _, s := range e.Steps {
		if s.Verdict == "not taken" && s.Detail == "" {
			continue // what only acts has nothing to say about a call that does not run
		}
		detail := visible(s.Detail)
		if s.Rule != "" {
			detail = fmt.Sprintf("%s (rule: %s)", detail, visible(s.Rule))
		}
		rows = append(rows, []string{indent + s.Step, s.Verdict, detail})
		tried = append(tried, s.Tried...)
	}
	t.table(rows, func(_, column int, cell string) string {
		if column != 1 {
			return cell
		}
		return t.verdict(cell)
	})
	for i := range tried {
		t.printPart(indent, &tried[i])
	}
}

// printPart shows one part of a call and the rules that were asked about it.
func (t *terminal) printPart(indent string, part *permission.Traced) {
	if part.Part == "the call" && part.Tried == nil {
		return
	}
	line := indent + "  " + t.bold(visible(part.Part))
	if part.Knows != "" {
		line += ": " + visible(part.Knows)
	}
	fmt.Fprintln(t.out, line)
	var rows [][]string
	var lists []string
	silent := map[string][]string{}
	for _, one := range part.Tried {
		if one.Says == "no" {
			silent[one.List] = append(silent[one.List], visible(one.Rule))
			continue
		}
		says := one.Says
		if one.Why != "" {
			says += ": " + visible(one.Why)
		}
		rows, lists = append(rows, []string{indent + "    " + one.List, visible(one.Rule), says}), append(lists, one.List)
	}
	t.table(rows, func(row, column int, cell string) string {
		switch {
		case column != 2:
			return cell
		case lists[row] == "deny":
			return t.bad(cell)
		case lists[row] == "ask":
			return t.warn(cell)
		default:
			return t.good(cell)
		}
	})
	t.printSilent(indent, silent, part.More)
}

// printSilent names the rules that were asked and say nothing about a part.
func (t *terminal) printSilent(indent string, silent map[string][]string, more int) {
	var lists []string
	for _, list := range []string{"deny", "ask", "allow"} {
		if rules := silent[list]; rules != nil {
			lists = append(lists, list+" "+strings.Join(rules, ", "))
		}
	}
	if lists == nil {
		return
	}
	line := "not about it: " + strings.Join(lists, "; ")
	if more > 0 {
		line += fmt.Sprintf("; and %d more", more)
	}
	fmt.Fprintln(t.out, indent+"    "+t.dim(line))
}

func (t *terminal) printExplanation(asked string, e handrail.Explanation) {
	t.printTree("", e)
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
