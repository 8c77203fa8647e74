package config

import (
	"cmp"
	"maps"
	"slices"
)

// overlay returns base with what over says on top, by the rules of the
// package comment. It changes neither.
func overlay(base, over Settings) Settings {
	s := base.clone()
	over = over.clone()
	s.Permission.Mode = cmp.Or(over.Permission.Mode, s.Permission.Mode)
	s.Permission.Approval = cmp.Or(over.Permission.Approval, s.Permission.Approval)
	s.Permission.Allow = replace(s.Permission.Allow, over.Permission.Allow)
	s.Permission.Ask = union(s.Permission.Ask, over.Permission.Ask)
	s.Permission.Deny = union(s.Permission.Deny, over.Permission.Deny)
	s.Policy = overlayPolicy(s.Policy, over.Policy)
	s.Workspace.Granted = replace(s.Workspace.Granted, over.Workspace.Granted)
	s.Workspace.ReadOnlyDirs = replace(s.Workspace.ReadOnlyDirs, over.Workspace.ReadOnlyDirs)
	s.Workspace.Protected = union(s.Workspace.Protected, over.Workspace.Protected)
	// The list of secrets that stands where nobody says otherwise has false
	// alarms, so a trusted source may set another in its place.
	s.Workspace.Unreadable = replace(s.Workspace.Unreadable, over.Workspace.Unreadable)
	s.SecretEnv = union(s.SecretEnv, over.SecretEnv)
	s.Import = union(s.Import, over.Import)
	s.Surface = cmp.Or(over.Surface, s.Surface)
	s.Exposure = overlayExposure(s.Exposure, over.Exposure)
	s.History = overlayHistory(s.History, over.History)
	s.Commands = overlayCommands(s.Commands, over.Commands)
	s.Hooks = joinHooks(s.Hooks, over.Hooks)
	s.Timeout = cmp.Or(over.Timeout, s.Timeout)
	s.StateDir = cmp.Or(over.StateDir, s.StateDir)
	for name, p := range over.Profiles {
		if s.Profiles == nil {
			s.Profiles = map[string]Settings{}
		}
		s.Profiles[name] = overlay(s.Profiles[name], p)
	}
	return s
}

// Join adds what other settings say of permission, and which folders they
// grant: every list is joined, the allow list too, and scalars of other win.
// It is for files that stand beside each other.
func (s *Settings) Join(other Settings) {
	allow := union(s.Permission.Allow, other.Permission.Allow)
	granted := union(s.Workspace.Granted, other.Workspace.Granted)
	*s = overlay(*s, other)
	s.Permission.Allow, s.Workspace.Granted = allow, granted
}

func overlayPolicy(base, over Policy) Policy {
	base.Allow = replace(base.Allow, over.Allow)
	base.Deny = union(base.Deny, over.Deny)
	// A tool needs one of the required tags, so joining two lists would let
	// more through than either.
	base.RequireTags = replace(base.RequireTags, over.RequireTags)
	base.ShellWrites = cmp.Or(over.ShellWrites, base.ShellWrites)
	for _, name := range slices.Sorted(maps.Keys(over.ByProvider)) {
		if base.ByProvider == nil {
			base.ByProvider = map[string]Policy{}
		}
		base.ByProvider[name] = overlayPolicy(base.ByProvider[name], over.ByProvider[name])
	}
	return base
}

func overlayExposure(base, over Exposure) Exposure {
	return Exposure{
		Deferred:  cmp.Or(over.Deferred, base.Deferred),
		Pinned:    replace(base.Pinned, over.Pinned),
		Away:      replace(base.Away, over.Away),
		MaxListed: cmp.Or(over.MaxListed, base.MaxListed),
		IdleTurns: cmp.Or(over.IdleTurns, base.IdleTurns),
	}
}

func overlayHistory(base, over History) History {
	return History{
		Enabled:    cmp.Or(over.Enabled, base.Enabled),
		MaxBytes:   cmp.Or(over.MaxBytes, base.MaxBytes),
		MaxAgeDays: cmp.Or(over.MaxAgeDays, base.MaxAgeDays),
	}
}

// replace returns over where it says something, even that it is empty.
func replace(base, over []string) []string {
	if over != nil {
		return over
	}
	return base
}

// union returns base followed by the entries of over that it lacks.
func union(base, over []string) []string {
	if over == nil {
		return base
	}
	all := slices.Clone(base)
	if all == nil {
		all = []string{}
	}
	for _, entry := range over {
		if !slices.Contains(all, entry) {
			all = append(all, entry)
		}
	}
	return all
}
