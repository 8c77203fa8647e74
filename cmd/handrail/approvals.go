package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/approval"
	"github.com/handrail-tools/handrail/tool"
)

func newApprovals(t *terminal, f *flags) *cobra.Command {
	list := func(*cobra.Command, []string) error { return t.withQueue(f, t.listApprovals) }
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List and answer the questions that wait",
		Long: "List the questions of all calls that wait for a person's word in the state folder: those of\n" +
			"`handrail mcp --queue`, `handrail call --queue` and every program that asks there. A question is answered\n" +
			"once, by its id or the beginning of it, and ends with the program that asked: then nothing runs.",
		Example: "  handrail approvals\n  handrail approvals show k3m9\n  handrail approvals allow k3m9 --session\n" +
			"  handrail approvals deny k3m9 not on the main branch",
		Args: cobra.NoArgs,
		RunE: list,
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the questions that wait", Args: cobra.NoArgs, RunE: list},
		newApprovalsShow(t, f), newApprovalsAllow(t, f), newApprovalsDeny(t, f),
	)
	return cmd
}

// withQueue runs an action on the queue of the state folder. What was spoilt
// in it is told.
func (t *terminal) withQueue(f *flags, action func(f *flags, q *approval.Queue, standing []approval.Question) error) error {
	l, err := f.load()
	if err != nil {
		return err
	}
	if l.StateDir == "" {
		return usage(errors.New("there is no state folder on this machine; name one with --state-dir"))
	}
	q, err := approval.Open(l.StateDir)
	if err != nil {
		return failure(err)
	}
	defer func() { _ = q.Close() }()
	standing, spoilt, err := q.Standing()
	if err != nil {
		return failure(err)
	}
	for _, err := range spoilt {
		t.complain("%s", visible(err.Error()))
	}
	return action(f, q, standing)
}

// questionJSON is a question as --json prints it.
type questionJSON struct {
	ID string `json:"id"`
	approval.Question
}

func (t *terminal) listApprovals(f *flags, _ *approval.Queue, standing []approval.Question) error {
	if f.json {
		for _, q := range standing {
			if err := t.printJSON(questionJSON{q.ID, q}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(standing) == 0 {
		fmt.Fprintln(t.out, "No question waits.")
		return nil
	}
	rows := [][]string{{"ID", "WAITS", "TOOL", "ASKED BY", "WHAT"}}
	for _, q := range standing {
		rows = append(rows, []string{
			q.ID, time.Since(q.Asked).Round(time.Second).String(), cell(q.Tool, maxCell), cell(q.Rule, maxCell), cell(q.Summary, maxNotes),
		})
	}
	t.table(rows, func(row, _ int, cell string) string {
		if row == 0 {
			return t.bold(cell)
		}
		return cell
	})
	return nil
}

// pickQuestion returns the one question that an id, or its beginning, names.
func pickQuestion(standing []approval.Question, id string) (approval.Question, error) {
	var found []approval.Question
	for _, q := range standing {
		if q.ID == id {
			return q, nil
		}
		if strings.HasPrefix(q.ID, id) {
			found = append(found, q)
		}
	}
	switch {
	case id == "" || len(found) == 0:
		return approval.Question{}, failure(fmt.Errorf("%s: %w", visible(tool.Clip(id)), approval.ErrGone))
	case len(found) > 1:
		return approval.Question{}, usage(fmt.Errorf("%d questions begin with %s; write more of the id", len(found), visible(tool.Clip(id))))
	}
	return found[0], nil
}

func newApprovalsShow(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show the whole of a question",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return t.withQueue(f, func(_ *flags, _ *approval.Queue, standing []approval.Question) error {
				q, err := pickQuestion(standing, args[0])
				if err != nil {
					return err
				}
				if f.json {
					return t.printJSON(questionJSON{q.ID, q})
				}
				fmt.Fprintf(t.out, "%s, asked %s by session %s (%s)\n", q.ID, q.Asked.Local().Format(time.DateTime), cell(q.Session, maxCell), cell(string(q.Origin.Kind), maxCell))
				if !q.Expires.IsZero() {
					fmt.Fprintf(t.out, "waits until %s\n", q.Expires.Local().Format(time.DateTime))
				}
				showQuestion(t.out, t.bold, shown{
					tool: q.Tool, summary: q.Summary, arguments: q.Arguments, command: q.Command, rule: q.Rule, reason: q.Reason,
					reads: q.Reads, trees: q.Trees, writes: q.Writes, hosts: q.Hosts, offers: q.Offers,
				}, math.MaxInt)
				return nil
			})
		},
	}
}

func newApprovalsAllow(t *terminal, f *flags) *cobra.Command {
	var session bool
	var limit time.Duration
	var always int
	var command string
	cmd := &cobra.Command{
		Use:   "allow ID",
		Short: "Let a call run",
		Long: "Let the call of a question run, once, or the same call for the rest of its session, or always: then\n" +
			"the rule that `handrail approvals show` names is written, and `handrail grants` lists it. With --command the\n" +
			"call gets another command, which is judged anew and asked about again where the rules say so.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reply := approval.Reply{Word: approval.WordOnce, Seconds: int(limit.Seconds())}
			switch {
			case session:
				reply.Word = approval.WordSession
			case cmd.Flags().Changed("always"):
				reply.Word, reply.Offer = approval.WordAlways, always-1
			case cmd.Flags().Changed("command"):
				reply.Word = approval.WordEdit
			}
			if limit < 0 || limit > 0 && (!session || limit < time.Second) {
				return usage(errors.New("--for is how long --session holds, a second at least"))
			}
			return t.reply(f, args[0], command, reply)
		},
	}
	cmd.Flags().BoolVar(&session, "session", false, "for the rest of the session that asks")
	cmd.Flags().DurationVar(&limit, "for", 0, "how long --session holds, as 1h; 0 to its end")
	cmd.Flags().IntVar(&always, "always", 0, "always, by the rule of that number that the question shows; 1 without a number")
	cmd.Flags().Lookup("always").NoOptDefVal = "1"
	cmd.Flags().StringVar(&command, "command", "", "command to run instead")
	cmd.MarkFlagsMutuallyExclusive("session", "always", "command")
	return cmd
}

func newApprovalsDeny(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "deny ID [WHY ...]",
		Short: "Refuse a call, and tell the agent why",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return t.reply(f, args[0], "", approval.Reply{Word: approval.WordNo, Reason: strings.Join(args[1:], " ")})
		},
	}
}

// reply answers a question and says what was answered.
func (t *terminal) reply(f *flags, id, command string, reply approval.Reply) error {
	return t.withQueue(f, func(_ *flags, queue *approval.Queue, standing []approval.Question) error {
		q, err := pickQuestion(standing, id)
		if err != nil {
			return err
		}
		reply.By = "command line"
		if reply.Word == approval.WordEdit {
			if reply.Arguments, err = otherCommand(q, command); err != nil {
				return usage(err)
			}
		}
		if err := queue.Reply(q, reply); err != nil {
			return failure(err)
		}
		if f.json {
			return t.printJSON(reply)
		}
		words := map[string]string{
			approval.WordOnce: "Allowed once", approval.WordSession: "Allowed for the session", approval.WordNo: "Refused", approval.WordEdit: "Changed",
		}
		text := words[reply.Word]
		if reply.Word == approval.WordAlways {
			text = "Allowed always, by the rule " + visible(strings.Join(q.Offers[reply.Offer].Rules, " and "))
		}
		fmt.Fprintf(t.out, "%s: %s\n", text, cell(q.Summary, maxNotes))
		return nil
	})
}

// otherCommand are the arguments of a question with another command.
func otherCommand(q approval.Question, command string) (string, error) {
	var args map[string]any
	if strings.TrimSpace(command) == "" {
		return "", errors.New("--command is empty; deny the call instead")
	}
	field := ""
	if q.Command != "" && json.Unmarshal([]byte(q.Arguments), &args) == nil {
		field = fieldOf(args, q.Command)
	}
	if field == "" {
		return "", fmt.Errorf("a call of %s has no command that could be changed", cell(q.Tool, maxCell))
	}
	out, err := withCommand([]byte(q.Arguments), field, command)
	return string(out), err
}

// noteWait says at which command a question waits that no terminal shows.
func (t *terminal) noteWait(f *flags, e handrail.Event) {
	if f.queue && !t.inTTY && e.Phase == handrail.PhaseAsked {
		t.complain("%s waits for a person's word; `handrail approvals` lists the question", visible(e.Tool))
	}
}
