package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Commands says how the commands of a session run. A workspace's own file has
// no say in it: what it named would run, or would be let out.
type Commands struct {
	// Enabled gives the session the tools that run commands; nil means not
	// said, which is as true.
	Enabled *bool
	// Fence is one of [Fences], Network one of [Networks], or "".
	Fence, Network string
	// AllowHosts and DenyHosts are for the network "proxy".
	AllowHosts, DenyHosts []string
	// PassEnv names variables of the environment that commands get beside
	// those that are harmless.
	PassEnv []string
	// Check is the project's own checker, a shell command.
	Check string
	// Formatters are programs with their arguments, by the ending of the
	// names of the files that they format.
	Formatters map[string][]string
}

// Fences lists the drivers of the fence that settings may name.
func Fences() []string {
	return []string{"auto", "namespaces", "landlock", "bubblewrap", "seatbelt", "none"}
}

// Networks lists what commands may reach, from the narrowest to the widest.
func Networks() []string { return []string{"off", "loopback", "proxy", "on"} }

func (d *decoder) commands(path string, n *node, c *Commands) {
	d.object(path, n, keys{
		"enabled":     d.boolean(&c.Enabled),
		"fence":       d.word(&c.Fence, Fences()),
		"network":     d.word(&c.Network, Networks()),
		"allow_hosts": d.list(&c.AllowHosts),
		"deny_hosts":  d.list(&c.DenyHosts),
		"pass_env":    d.list(&c.PassEnv),
		"check":       d.text(&c.Check),
		"formatters":  func(path string, n *node) { c.Formatters = d.formatters(path, n) },
	})
}

func (d *decoder) formatters(path string, n *node) map[string][]string {
	all := map[string][]string{}
	d.members(path, n, func(m member) {
		var argv []string
		d.list(&argv)(join(path, m.key), m.value)
		switch {
		case len(m.key) < 2 || !strings.HasPrefix(m.key, "."):
			d.problem(m.at, "a key of %s is the ending of a name, such as \".go\", not %q", path, m.key)
		case len(argv) == 0:
			d.problem(m.at, "%s needs a program", join(path, m.key))
		default:
			all[m.key] = argv
		}
	})
	return all
}

func overlayCommands(base, over Commands) Commands {
	c := Commands{
		Enabled: cmp.Or(over.Enabled, base.Enabled), Fence: cmp.Or(over.Fence, base.Fence), Network: cmp.Or(over.Network, base.Network),
		AllowHosts: replace(base.AllowHosts, over.AllowHosts), DenyHosts: union(base.DenyHosts, over.DenyHosts),
		PassEnv: union(base.PassEnv, over.PassEnv), Check: cmp.Or(over.Check, base.Check), Formatters: base.Formatters,
	}
	if over.Formatters != nil {
		c.Formatters = over.Formatters
	}
	return c
}

func (c Commands) clone() Commands {
	c.AllowHosts, c.DenyHosts = slices.Clone(c.AllowHosts), slices.Clone(c.DenyHosts)
	c.PassEnv, c.Formatters = slices.Clone(c.PassEnv), maps.Clone(c.Formatters)
	for ending, argv := range c.Formatters {
		c.Formatters[ending] = slices.Clone(argv)
	}
	return c
}
