package foreign

import (
	"strings"
	"sync"
)

// takes is what stands between the brackets of a rule about a tool.
type takes int

const (
	nothing takes = iota
	commands
	paths
	domains
)

// A counterpart is which of our tools a rule about a tool of Claude Code is
// about. A name that ends in "*" is of a tool that may come.
type counterpart struct {
	takes takes
	// allow, ask and deny are the tools of a rule with a pattern; nil ask is
	// as deny.
	allow, ask, deny []string
	// every are the tools of a rule that refuses or asks without a pattern;
	// nil is as deny.
	every []string
	// none, if not "", says why there is nothing that a rule could be about.
	none string
}

var (
	readers = []string{"read_file", "view_image", "grep", "glob", "list_dir"}
	// writers are the tools that change files in any way.
	writers = []string{"edit_file", "write_file", "diff_edit", "notebook_edit", "apply_patch", "delete_file", "move_file", "make_dir", "undo"}
	// editors are those of them that do no more than Claude Code's own.
	editors = []string{"edit_file", "write_file", "diff_edit", "notebook_edit"}
	// shells stands for all tools that run commands: a rule of ours for one of
	// them holds for all.
	shells = []string{"shell"}
	agents = []string{"spawn*", "delegate*"}
)

const (
	noTool    = "Handrail has no such tool"
	modeStays = "Handrail's mode is not for a model to change"
)

// A deny rule with a path for read_file holds for everything of ours that
// reads, and a deny or ask rule for edit_file or write_file for everything
// that changes files, so one rule is enough there.
var claudeTools = sync.OnceValue(func() map[string]counterpart {
	return map[string]counterpart{
		"Bash":         {takes: commands, allow: shells, deny: shells},
		"BashOutput":   {deny: []string{"write_stdin"}},
		"KillShell":    {deny: []string{"write_stdin"}},
		"KillBash":     {deny: []string{"write_stdin"}},
		"Read":         {takes: paths, allow: readers, ask: readers, deny: []string{"read_file"}, every: []string{"read_file", "view_image"}},
		"NotebookRead": {takes: paths, allow: []string{"read_file"}, ask: readers, deny: []string{"read_file"}, every: []string{"read_file"}},
		"Edit":         {takes: paths, allow: editors, deny: []string{"edit_file"}, every: writers},
		"MultiEdit":    {takes: paths, allow: []string{"edit_file"}, deny: []string{"edit_file"}, every: writers},
		"Write":        {takes: paths, allow: []string{"write_file"}, deny: []string{"write_file"}, every: []string{"write_file", "apply_patch"}},
		"NotebookEdit": {takes: paths, allow: []string{"notebook_edit"}, deny: []string{"notebook_edit"}},
		"Glob":         {takes: paths, allow: []string{"glob"}, deny: []string{"glob"}},
		"Grep":         {takes: paths, allow: []string{"grep"}, deny: []string{"grep"}},
		"LS":           {takes: paths, allow: []string{"list_dir"}, deny: []string{"list_dir"}},
		"WebFetch":     {takes: domains, deny: []string{"web_fetch*"}},
		"WebSearch":    {deny: []string{"web_search*"}},
		"Task":         {deny: agents},
		"Agent":        {deny: agents},
		"TodoWrite":    {allow: []string{"update_plan"}, deny: []string{"update_plan"}},
		"ToolSearch":   {allow: []string{"tool_search"}, deny: []string{"tool_search"}},

		"AskUserQuestion": {none: "Handrail has no tool that asks a person by itself"},
		"EnterPlanMode":   {none: modeStays}, "ExitPlanMode": {none: modeStays},
		"PowerShell": {none: "Handrail runs no PowerShell"},
		"Skill":      {none: noTool}, "SlashCommand": {none: noTool}, "LSP": {none: noTool}, "Monitor": {none: noTool}, "Config": {none: noTool},
		"TaskOutput": {none: noTool}, "TaskStop": {none: noTool}, "TaskCreate": {none: noTool}, "TaskGet": {none: noTool}, "TaskList": {none: noTool},
		"TaskUpdate": {none: noTool}, "TeamCreate": {none: noTool}, "TeamDelete": {none: noTool}, "SendMessage": {none: noTool},
		"EnterWorktree": {none: noTool}, "ExitWorktree": {none: noTool}, "CronCreate": {none: noTool}, "CronDelete": {none: noTool}, "CronList": {none: noTool},
		"ListMcpResourcesTool": {none: noTool}, "ReadMcpResourceTool": {none: noTool},
	}
})

// tools returns the tools that a rule is about.
func (c counterpart) tools(e effect, pattern bool) []string {
	switch {
	case e == allows:
		return c.allow
	case !pattern && c.every != nil:
		return c.every
	case e == asks && c.ask != nil:
		return c.ask
	}
	return c.deny
}

// mcpRule turns mcp__server, mcp__server__* and mcp__server__tool into a rule
// of ours. Which tools a server has is not known here, so a rule that allows
// is about the whole of a server that it names, or it is left out.
func (r *reader) mcpRule(e effect, line int, entry, name string, pattern bool) {
	rest := strings.TrimPrefix(name, "mcp__")
	server, tool, both := strings.Cut(rest, "__")
	whole := !both || tool == "*" || tool == ""
	switch {
	case server == "" || strings.Contains(strings.TrimSuffix(rest, "*"), "*"):
		r.cannot(e, line, entry, "a wildcard stands once, at the end of a name")
		return
	case pattern && e == allows:
		r.cannot(e, line, entry, "a rule about a tool of a server has no pattern")
		return
	case pattern:
		r.note(line, "%s %q holds for every call of the tool: a rule about a tool of a server has no pattern", e, clip(entry))
	}
	switch {
	case strings.Contains(server, "*") && e == allows:
		r.cannot(e, line, entry, "it would allow every server that comes")
	case strings.Contains(server, "*"):
		r.add(e, "mcp__"+server)
	case whole:
		r.add(e, "mcp__"+server+"__*")
	case e == allows:
		r.cannot(e, line, entry, "which tools a server has is not known before it runs; write "+clip(name)+" in the settings of Handrail")
	default:
		r.add(e, "mcp__"+server+"__"+strings.TrimSuffix(tool, "*")+"*")
	}
}
