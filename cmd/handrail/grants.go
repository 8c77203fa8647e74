package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail/internal/approval"
	"github.com/handrail-tools/handrail/tool"
)

func newGrants(t *terminal, f *flags) *cobra.Command {
	list := func(*cobra.Command, []string) error {
		book, err := f.book()
		if err != nil {
			return err
		}
		return t.printGrants(f, book)
	}
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List and take back what was allowed for always",
		Long: "List the rules that a person has allowed for always in this workspace. They are kept in a file of\n" +
			"the user's own, beside the settings; a rule that is taken back holds for no call that comes after, in\n" +
			"running sessions too. What was allowed for a session ends with it.",
		Args: cobra.NoArgs,
		RunE: list,
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the rules", Args: cobra.NoArgs, RunE: list},
		&cobra.Command{
			Use: "revoke RULE ...", Short: "Take rules back", Args: cobra.MinimumNArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				book, err := f.book()
				if err != nil {
					return err
				}
				return t.revoke(book, args)
			},
		},
	)
	return cmd
}

// book is the rules for always of the workspace.
func (f *flags) book() (*approval.Book, error) {
	dir := bookDir()
	if dir == "" {
		return nil, usage(errors.New("this machine has no place for settings of a user's own"))
	}
	book, err := approval.OpenBook(dir, f.workspace)
	return book, usage(err)
}

func (t *terminal) printGrants(f *flags, book *approval.Book) error {
	grants, _, err := book.Rules()
	if err != nil {
		return failure(err)
	}
	rows := [][]string{{"RULE", "GIVEN", "BY", "FOR"}}
	for _, g := range grants {
		if f.json {
			if err := t.printJSON(map[string]any{"rule": g.Rule, "given": g.Given, "by": g.By, "for": g.Summary}); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{cell(g.Rule, maxNotes), g.Given.Local().Format(time.DateTime), cell(g.By, maxCell), cell(g.Summary, maxNotes)})
	}
	switch {
	case f.json:
	case len(grants) == 0:
		fmt.Fprintln(t.out, "Nothing is allowed for always in this workspace, beside your settings.")
	default:
		t.table(rows, func(row, _ int, cell string) string {
			if row == 0 {
				return t.bold(cell)
			}
			return cell
		})
	}
	return nil
}

func (t *terminal) revoke(book *approval.Book, rules []string) error {
	var errs []error
	for _, rule := range rules {
		there, err := book.Drop(rule)
		switch {
		case err != nil:
			errs = append(errs, err)
		case !there:
			errs = append(errs, fmt.Errorf("there is no rule %s; `handrail grants` lists them", visible(tool.Clip(rule))))
		default:
			fmt.Fprintf(t.out, "Taken back: %s\n", visible(rule))
		}
	}
	return failure(errors.Join(errs...))
}
