package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// Base is what every event of a session is told about it.
type Base struct {
	// Session is the id of the session that the person talks to. AgentID and
	// AgentType are set for a sub-agent.
	Session, AgentID, AgentType string
	// Root is the folder of the workspace, Transcript the file in which the
	// embedder keeps the conversation, or "".
	Root, Transcript string
	// Project is the folder in which commands run, and which they know as
	// $CLAUDE_PROJECT_DIR: that of the session that was opened first. What lies
	// in the folder of a sub-agent under the names of their scripts is not
	// theirs. "" is Root.
	Project string
	// Mode and Approval are those of the session.
	Mode     permission.Mode
	Approval permission.Approval
	Model    string
	Origin   tool.Origin
}

// permissionMode is the nearest of Claude Code's modes.
func (b *Base) permissionMode() string {
	switch asks := b.Approval == permission.Always || b.Approval == permission.Untrusted; {
	case asks:
		return "default"
	case b.Mode == permission.FullAccess:
		return "bypassPermissions"
	case b.Approval == permission.Never:
		return "dontAsk"
	case b.Mode == permission.WorkspaceWrite:
		return "acceptEdits"
	}
	return "plan"
}

// payload is the JSON that a hook is told. v is nil for an event that is not
// about a call.
func (b *Base) payload(in *Input, v *view) ([]byte, error) {
	k, _ := in.Event.kind()
	p := maps.Clone(in.Fields)
	if p == nil {
		p = map[string]any{}
	}
	p["session_id"], p["transcript_path"], p["cwd"] = b.Session, b.Transcript, b.Root
	p["permission_mode"], p["hook_event_name"] = b.permissionMode(), k.wire
	if b.AgentID != "" {
		p["agent_id"], p["agent_type"] = b.AgentID, b.AgentType
	}
	if k.subject != "" && in.Subject != "" {
		p[k.subject] = in.Subject
	}
	if in.Event == SessionStart && b.Model != "" {
		p["model"] = b.Model
	}
	if v != nil {
		b.aboutCall(p, in, v)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("writing what the hook is told: %w", err)
	}
	return buf.Bytes(), nil
}

// aboutCall adds the fields of an event about a call.
func (b *Base) aboutCall(p map[string]any, in *Input, v *view) {
	p["tool_name"], p["tool_input"], p["tool_use_id"] = v.name, v.input, in.CallID
	p["handrail"] = map[string]any{
		"tool": in.Tool, "input": orEmpty(in.Args), "command": in.Act.Command, "reads": in.Reads, "writes": in.Writes,
		"hosts": in.Act.Hosts, "effects": in.Act.Effects.String(), "origin": in.Origin,
	}
	switch in.Event {
	case PermissionRequest:
		p["description"] = in.Summary
	case PostToolUse:
		p["tool_response"], p["duration_ms"] = response(in.Result, v), in.Result.Duration.Milliseconds()
	case PostToolUseFailure:
		p["error"], p["is_interrupt"] = in.Result.Text, in.Result.Code == tool.CodeCancelled
		p["duration_ms"] = in.Result.Duration.Milliseconds()
	}
}

// response is a result in the shape of Claude Code's tool of that name.
func response(r *tool.Result, v *view) map[string]any {
	path := func() any {
		var input struct {
			FilePath     string `json:"file_path"`
			NotebookPath string `json:"notebook_path"`
		}
		_ = json.Unmarshal(v.input, &input) // which this package has written
		if input.FilePath == "" {
			return input.NotebookPath
		}
		return input.FilePath
	}
	switch v.name {
	case "Bash":
		return map[string]any{"stdout": r.Text, "stderr": "", "interrupted": false, "isImage": false}
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return map[string]any{"filePath": path(), "success": r.OK, "content": r.Text}
	case "Read":
		return map[string]any{"type": "text", "file": map[string]any{"filePath": path(), "content": r.Text}}
	}
	return map[string]any{"success": r.OK, "content": r.Text}
}

// names is how a hook is called in reports and reasons: by what it does, as
// the settings say it.
func (h *Hook) name() string {
	switch {
	case h.Command != "":
		return "command " + tool.Clip(fmt.Sprintf("%q", strings.Join(append([]string{h.Command}, h.Args...), " ")))
	case h.URL != "":
		return "server " + tool.Clip(h.URL)
	}
	return "function"
}

// check reports everything that is wrong with a hook.
func (h *Hook) check() (errs []error) {
	k, fires := h.Event.kind()
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	kinds := 0
	for _, set := range []bool{h.Func != nil, h.Command != "", h.URL != ""} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		bad("it has %d of a function, a command and a URL, and needs one", kinds)
	}
	if h.Timeout < 0 {
		bad("its timeout %s is negative", h.Timeout)
	}
	switch h.OnFailure {
	case "", Continue:
	case Block:
		if fires && !k.blocks {
			bad("it is to block when it fails, and nothing can be blocked at %s", h.Event)
		}
	default:
		bad("what it does when it fails cannot be %q; it is block or continue", tool.Clip(string(h.OnFailure)))
	}
	if h.If != "" && !k.tool {
		bad("it has a condition on calls, and %s is about none", h.Event)
	}
	if h.Async && h.OnFailure == Block {
		bad("it is asynchronous, so nothing waits for it that it could block")
	}
	if h.Args != nil && h.Command == "" || h.Unfenced && h.Command == "" {
		bad("arguments and the fence are for commands")
	}
	if h.URL == "" && (h.Headers != nil || h.AllowedEnv != nil) {
		bad("headers are for servers")
	}
	if h.URL != "" {
		if err := checkURL(h); err != nil {
			errs = append(errs, err)
		}
	}
	if h.Async && h.Func != nil {
		errs = append(errs, errors.New("a function that wants to run beside everything starts a goroutine of its own"))
	}
	return errs
}
