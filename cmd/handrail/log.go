package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
)

// maxCell and maxNotes bound what one event shows, in bytes: names, paths
// and rules are whatever a caller wrote, and a row must stay a row. --json
// has the whole.
const (
	maxCell  = 64
	maxNotes = 400
)

func newLog(t *terminal, f *flags) *cobra.Command {
	var filter handrail.LogFilter
	var since time.Duration
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List what was called and what became of it",
		Long: "List the newest calls of every session that shares the state folder, the oldest of them first:\n" +
			"when, which tool, what became of it and by which rule, what it changed, and the id of its result.\n" +
			"--json prints one object a line.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if filter.Limit < 1 {
				return usage(fmt.Errorf("--limit must be at least 1"))
			}
			s, _, err := f.open(cmd.Context(), handrail.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			if since > 0 {
				filter.Since = time.Now().Add(-since)
			}
			log, err := s.Log(cmd.Context(), filter)
			if err != nil {
				return failure(err)
			}
			slices.Reverse(log.Events)
			if log.Torn > 0 {
				t.complain("%d lines of the log cannot be read", log.Torn)
			}
			return t.printLog(f.json, log.Events)
		},
	}
	cmd.Flags().StringVar(&filter.Tool, "tool", "", "only calls of this tool")
	cmd.Flags().StringVar(&filter.Session, "session", "", "only calls of this session")
	cmd.Flags().BoolVar(&filter.Failed, "failed", false, "only calls that did not succeed")
	cmd.Flags().DurationVar(&since, "since", 0, "only calls of the last time, such as 30m")
	cmd.Flags().IntVar(&filter.Limit, "limit", 20, "how many calls at most")
	return cmd
}

func (t *terminal) printLog(asJSON bool, events []handrail.LogEntry) error {
	if asJSON {
		for i := range events {
			if err := t.printJSON(&events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	rows := [][]string{{"TIME", "BY", "TOOL", "OUTCOME", "TOOK", "RESULT", "NOTES"}}
	for i := range events {
		rows = append(rows, logRow(&events[i]))
	}
	t.table(rows, func(row, column int, cell string) string {
		switch {
		case row == 0:
			return t.bold(cell)
		case column == 3 && cell == "ok":
			return t.good(cell)
		case column == 3:
			return t.bad(cell)
		default:
			return cell
		}
	})
	return nil
}

func logRow(e *handrail.LogEntry) []string {
	outcome := string(e.Code)
	if e.OK {
		outcome = "ok"
	}
	name := e.Tool
	if name == "" {
		name = e.Asked
	}
	var notes []string
	if len(e.Changed) > 0 {
		notes = append(notes, "changed "+strings.Join(e.Changed, ", "))
	}
	if !e.OK && e.Rule != "" {
		notes = append(notes, "rule: "+e.Rule)
	}
	return []string{
		e.Time.Local().Format(time.DateTime), cell(string(e.Origin.Kind), maxCell), cell(name, maxCell), cell(outcome, maxCell),
		e.Duration.Round(10 * time.Microsecond).String(), cell(e.Result, maxCell), cell(strings.Join(notes, "; "), maxNotes),
	}
}
