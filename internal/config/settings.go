package config

import (
	"maps"
	"slices"
	"time"
)

// Settings is what one file says, or what several say together. In every
// list nil means "not said" and empty means "nothing".
type Settings struct {
	Permission Permission
	Policy     Policy
	Workspace  Workspace
	// Surface is the set of tool names and schemas that is shown; "" means
	// not said.
	Surface  string
	Exposure Exposure
	History  History
	Commands Commands
	// Hooks are run around calls, in this order.
	Hooks []Hook
	// Timeout is how long a call may run whose tool names no time of its
	// own; 0 means not said.
	Timeout time.Duration
	// SecretEnv names environment variables whose values are never shown to
	// a model.
	SecretEnv []string
	// StateDir is where results and history are kept: an absolute path, or
	// "" where it is not said.
	StateDir string
	// Import names files of other systems whose rules are taken over:
	// absolute paths, and paths below the workspace.
	Import []string
	// Profiles are named overlays. An overlay has no profiles of its own.
	Profiles map[string]Settings
}

// Permission says what may happen without asking, and when to ask.
type Permission struct {
	// Mode is one of [Modes], or "".
	Mode string
	// Approval is one of [Approvals], or "".
	Approval string
	// Allow, Ask and Deny hold rules, Tool(specifier).
	Allow, Ask, Deny []string
}

// Policy says which tools may be used.
type Policy struct {
	// Allow, Deny and RequireTags hold entries: a name, group:x, prefix*,
	// effect:x, tag:x or tier:x.
	Allow, Deny, RequireTags []string
	// ShellWrites is one of [ShellWrites], or "".
	ShellWrites string
	// ByProvider has a further policy for a model id or a provider's name.
	// These have no ByProvider of their own.
	ByProvider map[string]Policy
}

// Workspace says what the files beneath and beside the root are for.
type Workspace struct {
	// Granted are further directories that may be read and written, and
	// ReadOnlyDirs further ones that may be read: absolute paths.
	Granted, ReadOnlyDirs []string
	// Protected are patterns of paths that are never written, beside those
	// that never are anyway.
	Protected []string
	// Unreadable are patterns of paths that are never read, written or
	// listed.
	Unreadable []string
}

// Exposure says which of the tools that may be used are listed.
type Exposure struct {
	// Deferred lists only some of them; nil means not said.
	Deferred *bool
	// Pinned are entries of tools that are always listed, Away those of
	// tools that are not listed at first.
	Pinned, Away []string
	// MaxListed and IdleTurns say when a listed tool is put away; 0 means
	// not said.
	MaxListed, IdleTurns int
}

// History says whether and how long it is kept what files were before they
// were changed. A workspace's own file has no say in it: whoever could switch
// it off could make changes that cannot be taken back.
type History struct {
	// Enabled keeps it; nil means not said, which is as true.
	Enabled *bool
	// MaxBytes is how much of one workspace is kept, in bytes, and
	// MaxAgeDays for how long; 0 means not said.
	MaxBytes, MaxAgeDays int
}

// Modes lists the permission modes, from the narrowest to the widest.
func Modes() []string { return []string{"read-only", "workspace-write", "full-access"} }

// Approvals lists the words for when a person is asked.
func Approvals() []string { return []string{"never", "on-request", "untrusted", "always"} }

// ShellWrites lists what may be done about a shell command that writes
// files, from the narrowest to the widest.
func ShellWrites() []string { return []string{"deny", "warn", "allow"} }

// Surfaces lists the surfaces that there are.
func Surfaces() []string { return []string{"handrail", "claude"} }

// BuiltinProfiles returns the profiles that exist without any file. A file
// may not declare one of the same name.
func BuiltinProfiles() map[string]Settings {
	return map[string]Settings{
		"read-only":       {Permission: Permission{Mode: "read-only", Approval: "on-request"}},
		"workspace-write": {Permission: Permission{Mode: "workspace-write", Approval: "on-request"}},
		"full-access":     {Permission: Permission{Mode: "full-access", Approval: "never"}},
	}
}

// clone returns a copy that shares no list or map with s.
func (s Settings) clone() Settings {
	s.Permission = s.Permission.clone()
	s.Policy = s.Policy.clone()
	s.Workspace = s.Workspace.clone()
	s.Exposure.Pinned, s.Exposure.Away = slices.Clone(s.Exposure.Pinned), slices.Clone(s.Exposure.Away)
	s.SecretEnv, s.Import = slices.Clone(s.SecretEnv), slices.Clone(s.Import)
	s.Commands = s.Commands.clone()
	s.Hooks = cloneHooks(s.Hooks)
	s.Profiles = maps.Clone(s.Profiles)
	for name, p := range s.Profiles {
		s.Profiles[name] = p.clone()
	}
	return s
}

func (p Permission) clone() Permission {
	p.Allow, p.Ask, p.Deny = slices.Clone(p.Allow), slices.Clone(p.Ask), slices.Clone(p.Deny)
	return p
}

func (p Policy) clone() Policy {
	p.Allow, p.Deny, p.RequireTags = slices.Clone(p.Allow), slices.Clone(p.Deny), slices.Clone(p.RequireTags)
	p.ByProvider = maps.Clone(p.ByProvider)
	for name, q := range p.ByProvider {
		p.ByProvider[name] = q.clone()
	}
	return p
}

func (w Workspace) clone() Workspace {
	w.Granted, w.ReadOnlyDirs = slices.Clone(w.Granted), slices.Clone(w.ReadOnlyDirs)
	w.Protected, w.Unreadable = slices.Clone(w.Protected), slices.Clone(w.Unreadable)
	return w
}
