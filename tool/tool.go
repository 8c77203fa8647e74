package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Tool is one thing that a model may ask for.
//
// Spec must return the same value every time and is called once, when the
// tool is registered. Run may be called from several goroutines at once if
// the spec says [Safe] or [Keyed]. Run must return soon after ctx is done.
//
// A tool keeps no state of a session: what differs between sessions (the
// workspace, the identity of the caller) comes with ctx and the call.
type Tool interface {
	Spec() Spec
	Run(ctx context.Context, call *Call) (*Result, error)
}

// The optional halves of a tool. Each is one method, asked for with a type
// assertion when the tool is registered.
type (
	// Assesser says what one call would do, before it is permitted. It must
	// have no effect itself. A tool without it is judged by everything that
	// its spec declares.
	Assesser interface {
		Assess(ctx context.Context, call *Call) (Act, error)
	}

	// Preflighter checks a call cheaply before it is handed to the
	// background, where the model could no longer see a mistake.
	Preflighter interface {
		Preflight(ctx context.Context, call *Call) error
	}

	// Resumer says how to go on after a result was cut. It returns one
	// sentence that names only arguments which exist and were not used, or
	// "" where there is no way on.
	Resumer interface {
		Resume(call *Call, cut Cut) string
	}

	// Keyer narrows a [Keyed] tool's exclusivity to a key taken from the
	// arguments, for example one terminal session. Calls with different keys
	// run together.
	Keyer interface {
		Key(args json.RawMessage) string
	}

	// Rebinder is for a tool that cannot help keeping a workspace of its
	// own. It returns the same tool for another root.
	Rebinder interface {
		Rebind(root string) (Tool, error)
	}

	// Checker reports what is wrong with a tool's declaration; a tool that
	// reports an error is not registered.
	Checker interface {
		Check() error
	}
)

// Concurrency says what may run beside a call.
type Concurrency uint8

const (
	// Exclusive runs alone in its session. It is the zero value.
	Exclusive Concurrency = iota
	// Safe runs beside other safe calls: it changes nothing.
	Safe
	// Keyed runs beside safe calls and beside keyed calls of another key.
	Keyed
)

// String returns the class as policy files and listings spell it.
func (c Concurrency) String() string {
	switch c {
	case Safe:
		return "safe"
	case Keyed:
		return "keyed"
	default:
		return "exclusive"
	}
}

// Spec is what a tool declares of itself. Only Name, Description and Input
// are required.
type Spec struct {
	// Name is the canonical name: 1 to 64 of [a-zA-Z0-9_-].
	Name string
	// Title is the name that a person sees. Empty means Name.
	Title string
	// Description is the text for the model.
	Description string
	// Input is the JSON Schema (2020-12) of the arguments; its root is an
	// object.
	Input json.RawMessage
	// Output is the JSON Schema of [Result.Structured]. nil means that the
	// tool returns none.
	Output json.RawMessage

	// Aliases are further names that mean this very tool. They are not
	// listed, may be called, and every policy entry that names one covers
	// the tool.
	Aliases []string
	// ArgAliases maps a canonical argument to the spellings that models
	// bring from elsewhere ("path": {"file_path"}). Case and underscores
	// never matter, so they need no entry.
	ArgAliases map[string][]string
	// Tags are the capability labels that require_tags asks for.
	Tags []string
	// Contexts are the model contexts in which the tool may be shown. nil
	// means everywhere.
	Contexts []string

	// Effects is the most that any call may do.
	Effects Effects
	// Concurrency says what may run beside a call.
	Concurrency Concurrency
	// Timeout is the tool's own time budget; it overrides the session's in
	// either direction, up to [MaxTimeout]. 0 means the session's.
	Timeout time.Duration
	// OutputBytes is the most text that reaches the model, in bytes. 0 means
	// [DefaultOutput].
	OutputBytes int
	// WaitsForPerson marks a tool that blocks until a person answers: it
	// has no deadline.
	WaitsForPerson bool
	// Verbatim marks results whose text will be matched again, such as a
	// file about to be edited: only secrets that the session was told of
	// are redacted, not what merely looks like one.
	Verbatim bool
	// Idempotent says that repeating a call changes nothing further.
	Idempotent bool
	// Additive says that a writing call only adds and never destroys.
	Additive bool
}

// OutputLimit returns the most text that reaches the model, in bytes.
func (s *Spec) OutputLimit() int {
	if s.OutputBytes > 0 {
		return s.OutputBytes
	}
	return DefaultOutput
}

// Call is one call that has been decoded: its arguments are valid against
// the tool's schema and use its canonical spellings.
type Call struct {
	// ID is the caller's own id of the call, unique within its session.
	ID string
	// Tool is the canonical name; Asked is the name the caller used.
	Tool, Asked string
	// Args is the JSON object of the arguments. It must not be changed.
	Args json.RawMessage
	// Session is the id of the session that the call belongs to.
	Session string
	// Origin says who asks.
	Origin Origin
	// Progress reports how far the call is. It is never nil, may be called
	// from any goroutine, and does nothing after Run has returned.
	Progress func(Progress)

	// decoded keeps what a typed tool made of Args, so that assessing and
	// running decode once.
	decoded any
}

// Origin says who asks for a call. It is data for rules and the audit
// trail; no origin takes another path.
type Origin struct {
	// Kind is one of the Origin... constants; empty counts as the model.
	Kind OriginKind `json:"kind,omitempty"`
	// Name is the self-reported name of the asker. It is never trusted.
	Name string `json:"name,omitempty"`
	// Depth is how many agents stand between the call and the person: 0 for
	// the agent that the person talks to.
	Depth int `json:"depth,omitempty"`
}

// OriginKind names a kind of asker.
type OriginKind string

// The kinds of askers.
const (
	OriginModel    OriginKind = "model"
	OriginAgent    OriginKind = "agent"
	OriginMCP      OriginKind = "mcp"
	OriginPlugin   OriginKind = "plugin"
	OriginScript   OriginKind = "script"
	OriginCLI      OriginKind = "cli"
	OriginHook     OriginKind = "hook"
	OriginTerminal OriginKind = "terminal"
)

// Progress is one report of a running call.
type Progress struct {
	// Message is a line for a person, without a newline.
	Message string
	// Done and Total count in the tool's own unit. Total 0 means unknown.
	Done, Total float64
}

// Act is what one call would do, as far as the tool can tell beforehand.
type Act struct {
	// Effects narrows the spec's effects for this call. It may not name one
	// that the spec does not declare.
	Effects Effects
	// Reads and Writes are the paths that the call would touch, as the
	// caller gave them; they are resolved by the workspace.
	Reads, Writes []string
	// Entries are the paths, in the same form, that the call would remove,
	// move or put something else in place of. Rules judge them as Writes,
	// but a symbolic link at their end is not followed: the link goes, not
	// what it leads to.
	Entries []string
	// Trees are the folders, in the same form as Reads, of which everything
	// beneath may be read or listed. A rule that denies, or asks about, any
	// path that could lie in a tree decides about the call; only Handrail's
	// own tools are known to leave such paths out. A rule that allows must
	// cover the whole tree.
	Trees []string
	// Hosts are the hosts that it would reach.
	Hosts []string
	// Command is what it would run, as one would type it into a shell, or "".
	// It is judged as bash would read it: each command in it by the rules for
	// commands, and the files and hosts that it names by those for files and
	// hosts.
	Command string
	// Dir is the folder that Command begins in, in the same form as Reads, or
	// "" for the workspace's own.
	Dir string
	// Resumed says that Command goes to a shell that has run others before, so
	// that neither its folder nor the value of any variable is known.
	Resumed bool
	// Unclear, if not "", says why more may run than Command tells. A rule that
	// refuses, or asks about, any command then has a person asked, and no
	// rule about commands permits the call.
	Unclear string
	// Unfenced says that the call asks to run a command outside of the fence
	// that holds the session's commands to its mode. Short of the mode that
	// allows everything, a person is always asked.
	Unfenced bool
	// Summary is one line for the person who is asked.
	Summary string
}

// Cut tells a [Resumer] what was left out of a result.
type Cut struct {
	// Omitted is how many bytes are not shown; Total is how many there were.
	Omitted, Total int
	// Lines is how many lines there were in all.
	Lines int
}
