package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// Event is a point in the life of a session at which hooks run.
type Event string

// The events. The journey of a call and the session itself fire the first
// ones; the rest belongs to whoever runs the agent, who fires them through
// the session.
const (
	PreToolUse         Event = "pre_tool_use"
	PermissionRequest  Event = "permission_request"
	PostToolUse        Event = "post_tool_use"
	PostToolUseFailure Event = "post_tool_use_failure"
	SessionStart       Event = "session_start"
	SessionEnd         Event = "session_end"
	SubagentStart      Event = "subagent_start"
	SubagentStop       Event = "subagent_stop"

	UserPromptSubmit Event = "user_prompt_submit"
	TurnStart        Event = "turn_start"
	Stop             Event = "stop" // the agent would end its turn
	PreLLMCall       Event = "pre_llm_call"
	PostLLMCall      Event = "post_llm_call"
	PreCompact       Event = "pre_compact"
	PostCompact      Event = "post_compact"
	Notification     Event = "notification"
)

// kind is what is particular about an event.
type kind struct {
	event Event
	// wire is its name in Claude Code, or in its manner.
	wire string
	// alias is its name in octos, or "".
	alias string
	// tool says that it is about a call: matchers are about tools.
	tool bool
	// gate says that a hook that fails refuses.
	gate bool
	// blocks says that a hook can refuse something.
	blocks bool
	// subject is the field of the payload that matchers are about, where the
	// event is not about a call. "" has none, and every matcher matches.
	subject string
	// own says that the session fires it and nobody else may.
	own bool
}

var kinds = []kind{
	{event: PreToolUse, wire: "PreToolUse", alias: "before_tool_call", tool: true, gate: true, blocks: true, own: true},
	{event: PermissionRequest, wire: "PermissionRequest", tool: true, gate: true, blocks: true, own: true},
	{event: PostToolUse, wire: "PostToolUse", alias: "after_tool_call", tool: true, own: true},
	{event: PostToolUseFailure, wire: "PostToolUseFailure", tool: true, own: true},
	{event: SessionStart, wire: "SessionStart", subject: "source", own: true},
	{event: SessionEnd, wire: "SessionEnd", subject: "reason", own: true},
	{event: SubagentStart, wire: "SubagentStart", subject: "agent_type", own: true},
	{event: SubagentStop, wire: "SubagentStop", subject: "agent_type", blocks: true},
	{event: UserPromptSubmit, wire: "UserPromptSubmit", blocks: true},
	{event: TurnStart, wire: "TurnStart", blocks: true},
	{event: Stop, wire: "Stop", alias: "on_turn_end", blocks: true},
	{event: PreLLMCall, wire: "PreLLMCall", alias: "before_llm_call", subject: "model", blocks: true},
	{event: PostLLMCall, wire: "PostLLMCall", alias: "after_llm_call", subject: "model"},
	{event: PreCompact, wire: "PreCompact", subject: "trigger", blocks: true},
	{event: PostCompact, wire: "PostCompact", subject: "trigger"},
	{event: Notification, wire: "Notification", subject: "notification_type"},
}

// foreign are the events of Claude Code that nothing here fires. None of them
// stands before a call, so that a hook for one protects nothing by being
// refused.
var foreign = []string{
	"PostToolBatch", "UserPromptExpansion", "StopFailure", "PreModelSwitch", "PostModelSwitch", "PermissionDenied", "Setup",
	"TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate",
	"WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay", "PreSkillShellCommand",
}

// Events returns the events in the order of a session's life.
func Events() []Event {
	all := make([]Event, len(kinds))
	for i, k := range kinds {
		all[i] = k.event
	}
	return all
}

// ParseEvent returns the event of a name: ours, that of Claude Code
// (PreToolUse) or that of octos (before_tool_call). fires is false for an
// event of Claude Code that nothing here fires.
func ParseEvent(name string) (e Event, fires bool, err error) {
	names := make([]string, 0, 2*len(kinds))
	for _, k := range kinds {
		if name == string(k.event) || name == k.wire || name == k.alias && name != "" {
			return k.event, true, nil
		}
		names = append(names, string(k.event), k.wire)
	}
	if slices.Contains(foreign, name) {
		return Event(name), false, nil
	}
	msg := fmt.Sprintf("unknown event %q", tool.Clip(name))
	if near, ok := suggest.Nearest(name, names); ok {
		return "", false, fmt.Errorf("%s (did you mean %q?)", msg, near)
	}
	return "", false, fmt.Errorf("%s; the events are %s", msg, strings.Join(names, ", "))
}

// kind returns what is known of an event, and false of one that is not fired.
func (e Event) kind() (kind, bool) {
	for _, k := range kinds {
		if k.event == e {
			return k, true
		}
	}
	return kind{event: e, wire: string(e)}, false
}

// Own reports whether the session fires the event itself.
func (e Event) Own() bool {
	k, _ := e.kind()
	return k.own
}
