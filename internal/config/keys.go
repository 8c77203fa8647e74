package config

import "slices"

// The tables below are the file's format: to add a setting is to add a line
// here, a field in settings.go and a rule in merge.go.

func (d *decoder) settings(n *node) Settings {
	var s Settings
	known := d.sections(&s)
	if d.from == trusted {
		known["import"] = d.imports(&s.Import)
		known["profiles"] = func(path string, n *node) { s.Profiles = d.profiles(path, n) }
	}
	d.object("", n, known)
	return s
}

func (d *decoder) sections(s *Settings) keys {
	known := keys{
		"permission": func(path string, n *node) { d.permission(path, n, &s.Permission) },
		"policy":     func(path string, n *node) { d.policy(path, n, &s.Policy, true) },
		"workspace":  func(path string, n *node) { d.workspace(path, n, &s.Workspace) },
	}
	if d.from == trusted {
		known["surface"] = d.word(&s.Surface, Surfaces())
		known["exposure"] = func(path string, n *node) { d.exposure(path, n, &s.Exposure) }
		known["history"] = func(path string, n *node) { d.history(path, n, &s.History) }
		known["commands"] = func(path string, n *node) { d.commands(path, n, &s.Commands) }
		known["hooks"] = func(path string, n *node) { d.hooks(path, n, &s.Hooks) }
		known["timeout"] = d.duration(&s.Timeout)
		known["state_dir"] = d.dir(&s.StateDir)
		// A repository that could name a variable could have its value, "1"
		// or the user's name, blotted out of every result.
		known["secret_env"] = d.list(&s.SecretEnv)
	}
	return known
}

func (d *decoder) permission(path string, n *node, p *Permission) {
	known := keys{
		"mode":  d.word(&p.Mode, Modes()),
		"allow": d.list(&p.Allow),
		"ask":   d.list(&p.Ask),
		"deny":  d.list(&p.Deny),
	}
	if d.from == trusted {
		known["approval"] = d.word(&p.Approval, Approvals())
	}
	d.object(path, n, known)
}

// policy reads a policy; one for a provider has no providers of its own.
func (d *decoder) policy(path string, n *node, p *Policy, top bool) {
	known := keys{
		"allow":        d.list(&p.Allow),
		"deny":         d.list(&p.Deny),
		"require_tags": d.list(&p.RequireTags),
		"shell_writes": d.word(&p.ShellWrites, ShellWrites()),
	}
	if d.from == trusted && top {
		known["by_provider"] = func(path string, n *node) { p.ByProvider = d.byProvider(path, n) }
	}
	d.object(path, n, known)
}

func (d *decoder) byProvider(path string, n *node) map[string]Policy {
	all := map[string]Policy{}
	d.members(path, n, func(m member) {
		if m.key == "" {
			d.problem(m.at, "a key of %s is a model id or a provider's name and cannot be empty", path)
			return
		}
		var p Policy
		d.policy(join(path, m.key), m.value, &p, false)
		all[m.key] = p
	})
	return all
}

func (d *decoder) workspace(path string, n *node, w *Workspace) {
	known := keys{
		"protected":  d.list(&w.Protected),
		"unreadable": d.list(&w.Unreadable),
	}
	if d.from == trusted {
		known["granted"] = d.dirs(&w.Granted)
		known["read_only_dirs"] = d.dirs(&w.ReadOnlyDirs)
	}
	d.object(path, n, known)
}

func (d *decoder) exposure(path string, n *node, e *Exposure) {
	d.object(path, n, keys{
		"deferred":   d.boolean(&e.Deferred),
		"pinned":     d.list(&e.Pinned),
		"away":       d.list(&e.Away),
		"max_listed": d.count(&e.MaxListed),
		"idle_turns": d.count(&e.IdleTurns),
	})
}

func (d *decoder) history(path string, n *node, h *History) {
	d.object(path, n, keys{
		"enabled":      d.boolean(&h.Enabled),
		"max_bytes":    d.count(&h.MaxBytes),
		"max_age_days": d.count(&h.MaxAgeDays),
	})
}

func (d *decoder) profiles(path string, n *node) map[string]Settings {
	builtin := BuiltinProfiles()
	all := map[string]Settings{}
	d.members(path, n, func(m member) {
		if _, taken := builtin[m.key]; taken {
			d.problem(m.at, "the profile %q is built in and cannot be declared; choose another name", m.key)
			return
		}
		if !validProfileName(m.key) {
			d.problem(m.at, "%q cannot be the name of a profile; use letters, digits, - and _", m.key)
			return
		}
		var s Settings
		d.object(join(path, m.key), m.value, d.sections(&s))
		all[m.key] = s
	})
	return all
}

func validProfileName(name string) bool {
	return name != "" && !slices.ContainsFunc([]rune(name), func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
