package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Hook is one hook of the settings, in the words of the file. A workspace's
// own file has none: what it named would run.
type Hook struct {
	// Event is as it was written; what events there are is known to the room
	// of hooks.
	Event, Matcher, If string
	// Command is run by the shell or, with Args, without one. URL is a server.
	// One of them is set, except in a hook that is Unused.
	Command    string
	Args       []string
	URL        string
	Headers    map[string]string
	AllowedEnv []string
	// Timeout is 0 where it is not said.
	Timeout time.Duration
	// OnFailure is one of [OnFailures], or "".
	OnFailure string
	// Fence is false for a command that runs outside of the fence; nil means
	// not said, which is as true.
	Fence       *bool
	Async, Once bool
	// Where is the file, line and column at which it stands.
	Where string
	// Unused says why nothing becomes of the hook, or is "".
	Unused string
}

// OnFailures lists what may become of a hook that fails.
func OnFailures() []string { return []string{"block", "continue"} }

// HookTypes lists the types of handlers that Claude Code has. The last three
// need a model or a server of tools, and nothing here runs them.
func HookTypes() []string { return []string{"command", "http", "prompt", "agent", "mcp_tool"} }

// hooks reads hooks as Claude Code's settings have them: by event, lists of
// {matcher, hooks}. Its settings files have other keys around them, which are
// not read here.
func (d *decoder) hooks(path string, n *node, into *[]Hook) {
	all := []Hook{}
	d.members(path, n, func(m member) {
		d.file.places[entryKey(path, m.key)] = m.at
		at := join(path, m.key)
		d.items(at, m.value, func(at string, group *node) {
			all = append(all, d.hookGroup(at, m.key, group)...)
		})
	})
	*into = all
}

// items calls visit for each item of a list of objects.
func (d *decoder) items(path string, n *node, visit func(path string, item *node)) {
	if n.kind != '[' {
		d.problem(n.at, "%s must be a list, not %s", path, n.what())
		return
	}
	for i, item := range n.items {
		visit(path+"["+strconv.Itoa(i)+"]", item)
	}
}

func (d *decoder) hookGroup(path, event string, n *node) []Hook {
	var matcher string
	var all []Hook
	has := false
	d.object(path, n, keys{
		"matcher": d.anyText(&matcher),
		"hooks": func(path string, n *node) {
			has = true
			d.items(path, n, func(path string, n *node) { all = append(all, d.hook(path, event, n)) })
		},
		"description": d.ignored(),
	})
	if !has && n.kind == '{' {
		d.problem(n.at, "%s has no hooks; it is {\"matcher\": …, \"hooks\": [{\"type\": \"command\", \"command\": …}]}", path)
	}
	for i := range all {
		all[i].Matcher = matcher
	}
	return all
}

func (d *decoder) hook(path, event string, n *node) Hook {
	line, column := position(d.file.data, n.at)
	h := Hook{Event: event, Where: fmt.Sprintf("%s:%d:%d", d.file.name, line, column)}
	var kind, shell, ignoredText string
	var async, once *bool
	onFailure := d.word(&h.OnFailure, OnFailures())
	d.object(path, n, keys{
		"type": d.word(&kind, HookTypes()), "command": d.text(&h.Command), "args": d.list(&h.Args), "url": d.text(&h.URL),
		"headers":        func(path string, n *node) { h.Headers = d.texts(path, n) },
		"allowedEnvVars": d.list(&h.AllowedEnv), "if": d.text(&h.If), "timeout": d.seconds(&h.Timeout),
		"onFailure": onFailure, "on_failure": onFailure, "fence": d.boolean(&h.Fence), "async": d.boolean(&async), "once": d.boolean(&once),
		"shell": d.word(&shell, []string{"bash"}), "statusMessage": d.anyText(&ignoredText), "description": d.ignored(), "asyncRewake": d.ignored(),
		// Of the types that nothing here runs.
		"prompt": d.ignored(), "model": d.ignored(), "server": d.ignored(), "tool": d.ignored(), "input": d.ignored(),
	})
	h.Async, h.Once = async != nil && *async, once != nil && *once
	switch {
	case n.kind != '{':
	case kind == "" && n.has("type"): // which was reported
	case kind == "prompt" || kind == "agent" || kind == "mcp_tool":
		h.Unused = "hooks of the type " + kind + " are not run"
	case (kind == "command" || kind == "") && h.Command == "" && !n.has("command"):
		d.problem(n.at, "%s has no command", path)
	case kind == "http" && h.URL == "" && !n.has("url"):
		d.problem(n.at, "%s has no url", path)
	case kind == "http" && n.has("command"), kind != "http" && n.has("url"):
		d.problem(n.at, "%s has both a command and a url; its type says which it is: command has a command, http a url", path)
	}
	return h
}

func (n *node) has(key string) bool {
	return slices.ContainsFunc(n.members, func(m member) bool { return m.key == key })
}

// ignored reads what has no meaning here.
func (d *decoder) ignored() func(string, *node) { return func(string, *node) {} }

// anyText reads a string that may be empty.
func (d *decoder) anyText(into *string) func(string, *node) {
	return func(path string, n *node) {
		if n.kind != 's' {
			d.problem(n.at, "%s must be a string, not %s", path, n.what())
			return
		}
		*into = n.text
	}
}

func (d *decoder) texts(path string, n *node) map[string]string {
	all := map[string]string{}
	d.members(path, n, func(m member) {
		var text string
		d.anyText(&text)(join(path, m.key), m.value)
		all[m.key] = text
	})
	return all
}

// seconds reads a time as a number of seconds, which is how Claude Code has
// it. There are files that mean milliseconds; how long a hook may take at most
// is up to the room of hooks.
func (d *decoder) seconds(into *time.Duration) func(string, *node) {
	return func(path string, n *node) {
		value, err := strconv.ParseFloat(n.text, 64)
		if n.kind != 'n' || err != nil || value <= 0 || value > maxSeconds {
			d.problem(n.at, "%s must be a number of seconds above 0", path)
			return
		}
		*into = time.Duration(value * float64(time.Second))
	}
}

// maxSeconds keeps a number of seconds within what a duration holds.
const maxSeconds = 1e9

func cloneHooks(hooks []Hook) []Hook {
	hooks = slices.Clone(hooks)
	for i := range hooks {
		hooks[i].Args, hooks[i].AllowedEnv = slices.Clone(hooks[i].Args), slices.Clone(hooks[i].AllowedEnv)
		hooks[i].Headers = maps.Clone(hooks[i].Headers)
	}
	return hooks
}

// joinHooks has the hooks of both: a later source cannot take a gate away.
func joinHooks(base, over []Hook) []Hook {
	if over == nil {
		return base
	}
	return append(slices.Clone(base), over...)
}
