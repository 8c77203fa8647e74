package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail/internal/clientconfig"
)

func newMCPInstall(t *terminal, f *flags) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Write the server into an MCP client's settings",
		Long: "Show and then write the entry by which a client starts this server: " + strings.Join(clientconfig.Names(), ", ") + ".\n" +
			"All but codex keep it in the project, which is the workspace. What else is in the file stays as it\n" +
			"is. --mode, --profile and --surface go into the entry.",
		Args:              cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs:         clientconfig.Names(),
		ValidArgsFunction: cobra.FixedCompletions(clientconfig.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !(t.inTTY && t.outTTY && t.errTTY) {
				return usage(errors.New("nobody can be asked here; --yes writes without a question"))
			}
			return t.install(cmd.Context(), f, args[0], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "write without a question")
	return cmd
}

// install shows what would be written, asks, and writes it.
func (t *terminal) install(ctx context.Context, f *flags, client string, yes bool) error {
	change, err := f.planInstall(client)
	if err != nil {
		return failure(err)
	}
	if bytes.Equal(change.before, change.after) {
		t.printText(fmt.Sprintf("%s has the entry already\n", change.path))
		return nil
	}
	t.printText(udiff.Unified(change.path, change.path, string(change.before), string(change.after)))
	if !yes {
		if t.flush != nil {
			t.flush() // what was typed before the question was not meant for it
		}
		fmt.Fprintf(t.err, "Write this? [y/N] ")
		line, err := bufio.NewReader(withdrawable{ctx, t.in}).ReadString('\n')
		if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
			t.complain("nothing was written")
			return exitWith(exitStopped)
		}
	}
	return failure(change.write())
}

// settingsChange is a file before and after.
type settingsChange struct {
	path          string
	before, after []byte
	mode          fs.FileMode
}

// planInstall works out the change that enters the server.
func (f *flags) planInstall(client string) (settingsChange, error) {
	var none settingsChange
	program, err := os.Executable()
	if err != nil {
		return none, err
	}
	project, err := filepath.Abs(f.workspace)
	if err != nil {
		return none, err
	}
	if at, err := os.Stat(project); err != nil || !at.IsDir() {
		return none, fmt.Errorf("the workspace %s is no folder", project)
	}
	home, _ := os.UserHomeDir() // only codex needs one
	path, err := clientconfig.Path(client, clientconfig.Place{Home: home, Project: project, CodexHome: os.Getenv("CODEX_HOME")})
	if err != nil {
		return none, err
	}
	if !filepath.IsAbs(path) {
		return none, fmt.Errorf("%s keeps its settings in the home folder, and none is known", client)
	}
	entry := clientconfig.Entry{Name: "handrail", Command: program, Args: []string{"mcp", "--workspace", project}}
	for _, flag := range [][2]string{{"--mode", f.mode}, {"--profile", f.profile}, {"--surface", f.surface}} {
		if flag[1] != "" {
			entry.Args = append(entry.Args, flag[0], flag[1])
		}
	}
	return newSettingsChange(path, func(before []byte) ([]byte, error) { return clientconfig.Set(client, before, entry) })
}

// newSettingsChange reads a file, which need not be there, and works out
// what it is to be. Behind a link it is the file that is changed, and the
// link stays.
func newSettingsChange(path string, set func([]byte) ([]byte, error)) (settingsChange, error) {
	c := settingsChange{path: path, mode: 0o644}
	switch real, err := filepath.EvalSymlinks(path); {
	case err == nil:
		c.path = real
		at, err := os.Stat(real)
		if err != nil {
			return c, err
		}
		if !at.Mode().IsRegular() {
			return c, fmt.Errorf("%s is no regular file", real)
		}
		c.mode = at.Mode().Perm()
		if c.before, err = os.ReadFile(real); err != nil {
			return c, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return c, err
	default:
		if _, err := os.Lstat(path); err == nil {
			return c, fmt.Errorf("%s is a link to nothing", path)
		}
	}
	after, err := set(c.before)
	if err != nil {
		return c, fmt.Errorf("%s is left as it is: %w", c.path, err)
	}
	c.after = after
	return c, nil
}

// write puts the new settings in place of the old in one step, unless
// somebody has changed them since they were read.
func (c settingsChange) write() error {
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".handrail-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after success it has another name
	_, err = tmp.Write(c.after)
	if err := errors.Join(err, tmp.Chmod(c.mode), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", c.path, err)
	}
	now, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, c.before) {
		return fmt.Errorf("%s was changed in the meantime and is left as it is", c.path)
	}
	return os.Rename(tmp.Name(), c.path)
}
