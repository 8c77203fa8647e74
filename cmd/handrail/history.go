package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
)

func newHistory(t *terminal, f *flags) *cobra.Command {
	var filter handrail.HistoryFilter
	cmd := &cobra.Command{
		Use:   "history [FILE]",
		Short: "List what calls changed in files",
		Long: "List the newest changes of the workspace's files, or of one file or folder, the oldest of them\n" +
			"first: when, by which tool, and what happened to which file. `handrail undo ID` takes one back.\n" +
			"--json prints one object a line.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if filter.Limit < 1 {
				return usage(fmt.Errorf("--limit must be at least 1"))
			}
			s, _, err := f.open(cmd.Context(), handrail.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			if len(args) == 1 {
				if filter.Path, err = s.Rel(args[0]); err != nil {
					return usage(err)
				}
			}
			l, err := s.History(cmd.Context(), filter)
			if err != nil {
				return failure(err)
			}
			slices.Reverse(l.Changes)
			return t.printHistory(f.json, l.Changes)
		},
	}
	cmd.Flags().StringVar(&filter.Session, "session", "", "only changes by this session")
	cmd.Flags().StringVar(&filter.Before, "before", "", "only changes older than the one with this id")
	cmd.Flags().IntVar(&filter.Limit, "limit", 20, "how many changes at most")
	return cmd
}

func (t *terminal) printHistory(asJSON bool, changes []*handrail.FileChanges) error {
	if asJSON {
		for _, c := range changes {
			if err := t.printJSON(c); err != nil {
				return err
			}
		}
		return nil
	}
	rows := [][]string{{"CHANGE", "TIME", "BY", "TOOL", "STATE", "FILES"}}
	for _, c := range changes {
		rows = append(rows, historyRow(c))
	}
	t.table(rows, func(row, column int, cell string) string {
		switch {
		case row == 0:
			return t.bold(cell)
		case column == 4 && cell != string(handrail.ChangeDone):
			return t.warn(cell)
		default:
			return cell
		}
	})
	return nil
}

func historyRow(c *handrail.FileChanges) []string {
	state := string(c.Status)
	switch {
	case c.IsUndone():
		state = "undone"
	case len(c.UndoneBy) > 0:
		state = "partly undone"
	case len(c.Undoes) > 0 && c.Status == handrail.ChangeDone:
		state = "undo"
	}
	var files []string
	for i := range c.Files {
		files = append(files, c.Files[i].What()+" "+c.Files[i].Path)
	}
	return []string{
		c.ID, c.Time.Local().Format(time.DateTime), cell(string(c.Origin.Kind), maxCell), cell(c.Tool, maxCell), state,
		cell(strings.Join(files, ", "), maxNotes),
	}
}
