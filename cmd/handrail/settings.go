package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/internal/workspace"
)

// baseSettings are the settings of the command line where nobody says
// otherwise: a person who calls a tool on a folder means the folder.
func baseSettings(home string) config.Settings {
	s := config.BuiltinProfiles()["workspace-write"]
	s.Workspace.Unreadable = workspace.DefaultUnreadable()
	s.StateDir = stateDir(home)
	return s
}

// stateDir is where the XDG rules put what a program may lose but would
// rather not.
func stateDir(home string) string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "handrail")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state", "handrail")
}

// applySettings puts the settings into the options of a session.
func applySettings(o *handrail.Options, s config.Settings) error {
	o.Surface, o.StateDir, o.Timeout = s.Surface, s.StateDir, s.Timeout
	o.Permission = handrail.Permission{
		Mode: handrail.Mode(s.Permission.Mode), Approval: handrail.Approval(s.Permission.Approval),
		Allow: s.Permission.Allow, Ask: s.Permission.Ask, Deny: s.Permission.Deny,
	}
	o.Policy = policyOf(s.Policy)
	o.PolicyByProvider = make(map[string]handrail.Policy, len(s.Policy.ByProvider))
	for name, p := range s.Policy.ByProvider {
		o.PolicyByProvider[name] = policyOf(p)
	}
	o.Files.Granted, o.Files.ReadOnlyDirs = s.Workspace.Granted, s.Workspace.ReadOnlyDirs
	o.Files.Protected, o.Files.Unreadable = s.Workspace.Protected, s.Workspace.Unreadable
	o.Exposure = handrail.Exposure{
		Deferred: s.Exposure.Deferred != nil && *s.Exposure.Deferred,
		Pinned:   s.Exposure.Pinned, Away: s.Exposure.Away,
		MaxListed: s.Exposure.MaxListed, IdleTurns: s.Exposure.IdleTurns,
	}
	o.History = handrail.HistoryOptions{
		Off:      s.History.Enabled != nil && !*s.History.Enabled,
		MaxBytes: int64(s.History.MaxBytes), MaxAge: time.Duration(s.History.MaxAgeDays) * 24 * time.Hour,
	}
	o.Commands = handrail.CommandOptions{
		Off:   s.Commands.Enabled != nil && !*s.Commands.Enabled,
		Fence: handrail.FenceDriver(s.Commands.Fence), Network: handrail.CommandNetwork(s.Commands.Network),
		AllowHosts: s.Commands.AllowHosts, DenyHosts: s.Commands.DenyHosts,
		Pass: s.Commands.PassEnv, Check: s.Commands.Check, Formatters: s.Commands.Formatters,
	}
	var errs [2]error
	o.Hooks, errs[0] = hooksOf(s.Hooks)
	o.Secrets, errs[1] = secrets(s.SecretEnv)
	return errors.Join(errs[:]...)
}

// secrets reads the variables whose values are never shown. The error names
// every variable that has too short a value, and no value.
func secrets(names []string) (map[string]string, error) {
	all := map[string]string{}
	var errs []error
	for _, name := range names {
		switch value := os.Getenv(name); {
		case value == "":
		case len(value) < output.MinSecret:
			errs = append(errs, fmt.Errorf("secret_env: the value of %q is shorter than %d bytes, so it cannot be told from ordinary text",
				name, output.MinSecret))
		default:
			all[name] = value
		}
	}
	return all, errors.Join(errs...)
}

func policyOf(p config.Policy) handrail.Policy {
	return handrail.Policy{
		Allow: p.Allow, Deny: p.Deny, RequireTags: p.RequireTags, ShellWrites: policy.ShellWrites(p.ShellWrites),
	}
}

// orWords says which of the words was probably meant, and all of them.
func orWords(value string, words []string) string {
	hint := ""
	if near, ok := suggest.Nearest(value, words); ok {
		hint = " (did you mean \"" + near + "\"?)"
	}
	return hint + "; it is one of " + strings.Join(words, ", ")
}
