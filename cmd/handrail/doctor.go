package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/doctor"
)

func newDoctor(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine offers and which settings are in force",
		Long: "Say what this machine offers, by trying: the fences of the kernel, the workspace and its file\n" +
			"system, the state folder, programs. The exit code is 1 where a session could not work.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := f.load()
			if err != nil {
				return err
			}
			root, err := filepath.Abs(f.workspace)
			if err != nil {
				return failure(err)
			}
			facts := append(append(settingsFacts(l), hookFacts(l.Hooks, root, f.idleHooks(cmd.Context(), l.Hooks))...), doctor.Examine(cmd.Context(), doctor.Subject{Workspace: root, StateDir: l.StateDir})...)
			if f.json {
				err = t.printJSON(facts)
			} else {
				t.printFacts(facts)
			}
			return errors.Join(err, exitWith(doctorCode(facts)))
		},
	}
}

// settingsFacts says where the settings come from and what they come to.
func settingsFacts(l *config.Loaded) []doctor.Fact {
	var facts []doctor.Fact
	for _, name := range l.Files {
		facts = append(facts, doctor.Fact{Group: "settings", Name: "file", State: doctor.OK, Value: name})
	}
	return append(facts,
		doctor.Fact{Group: "settings", Name: "mode", State: doctor.OK, Value: l.Permission.Mode},
		doctor.Fact{Group: "settings", Name: "approval", State: doctor.OK, Value: l.Permission.Approval})
}

// doctorCode is 1 where the workspace or the state folder is not to be had.
func doctorCode(facts []doctor.Fact) int {
	for _, f := range facts {
		if f.State == doctor.Missing && (f.Group == "workspace" || f.Group == "state") {
			return exitFailed
		}
	}
	return exitOK
}

func (t *terminal) printFacts(facts []doctor.Fact) {
	rows := make([][]string, 0, len(facts))
	for _, f := range facts {
		value := visible(f.Value)
		if f.Matters != "" {
			value = fmt.Sprintf("%s: %s", value, f.Matters)
		}
		rows = append(rows, []string{f.Group, f.Name, string(f.State), value})
	}
	t.table(rows, func(_, column int, cell string) string {
		if column != 2 {
			return cell
		}
		switch doctor.State(cell) {
		case doctor.OK:
			return t.good(cell)
		case doctor.Missing:
			return t.bad(cell)
		default:
			return t.warn(cell)
		}
	})
}
