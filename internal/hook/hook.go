package hook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// DefaultTimeout is how long a hook may take where it says nothing: what
	// Claude Code gave to a hook for most of its life (it gives 600 s by now,
	// which nobody waits for before a call).
	DefaultTimeout = 60 * time.Second

	// MaxTimeout is the longest that a hook may take, as in Codex. One that
	// asks for more gets this.
	MaxTimeout = 600 * time.Second

	// endTimeout is how long a hook may take at the end of a session where
	// it says nothing, as in Codex: nobody waits for it any more.
	endTimeout = time.Second

	// MaxFeedback is how much of one hook's reason or feedback reaches the
	// model, in bytes, as in octos.
	MaxFeedback = 2000

	// MaxContext is how much context one hook may add for the model, in
	// bytes, as in Claude Code.
	MaxContext = 10_000

	// MaxAnswer is how long the answer of one hook may be, in bytes: a
	// rewritten call of the largest size, and what stands around it.
	MaxAnswer = tool.MaxArgs + 64<<10

	// BreakerAfter is how many failures in a row trip the breaker of a hook,
	// as in octos.
	BreakerAfter = 3

	// breakerPause is after how long a gate that was tripped is tried again.
	breakerPause = 30 * time.Second

	// maxAsync is how many asynchronous hooks of a session run at once, as in
	// Codex. More are left out and reported.
	maxAsync = 8

	// maxFiles is for how many files of one call a hook is run, once each,
	// where the call is shown file by file. A call with more is refused by a
	// gate.
	maxFiles = 50

	// MaxHooks is how many hooks a session may have.
	MaxHooks = 256
)

// Verdict is a hook's word about what is going to happen, from the weakest to
// the strongest.
type Verdict uint8

const (
	// Pass says nothing. It is the zero value.
	Pass Verdict = iota
	// Allow answers the question that would otherwise be put to a person.
	Allow
	// Ask wants a person to be asked.
	Ask
	// Deny refuses.
	Deny
)

// OnFailure says what becomes of a hook that fails.
type OnFailure string

const (
	// Block refuses what the hook stands before. It is the meaning of "" for
	// a gate.
	Block OnFailure = "block"
	// Continue goes on as if the hook had said nothing.
	Continue OnFailure = "continue"
)

// A Func is a hook in Go. It may be called from several goroutines at once
// and must return soon after ctx is done. It sees a call under its canonical
// name and with its canonical arguments, and rewrites it in the same form. An
// error, a panic and a late answer are failures of the hook.
type Func func(ctx context.Context, in Input) (Answer, error)

// Hook is one hook. Exactly one of Func, Command and URL is set.
type Hook struct {
	// Event is when it runs.
	Event Event
	// Matcher narrows it to some tools, or to some of what else the event is
	// about: a name, names with "|" between them, or a regular expression
	// that need not match the whole. "" and "*" match everything.
	Matcher string
	// If narrows it to the calls that a permission rule could be about, such
	// as "Bash(git *)". It goes with events about calls only. Where it cannot
	// be told, the hook runs.
	If string

	Func Func
	// Command is run by the shell, without any profile; with Args it is a
	// program that is run without a shell.
	Command string
	Args    []string
	// URL has the event posted to it. Redirects are not followed. Headers may
	// name variables of the environment, as $NAME or ${NAME}, that
	// AllowedEnv lists.
	URL        string
	Headers    map[string]string
	AllowedEnv []string

	// Timeout bounds it. 0 means [DefaultTimeout], or a second at the end of
	// a session; more than [MaxTimeout] counts as that.
	Timeout time.Duration
	// OnFailure says what a failure means; "" is Block for a gate and
	// Continue for any other.
	OnFailure OnFailure
	// Unfenced runs a command outside of the fence of the session.
	Unfenced bool
	// Async runs it beside everything else; what it answers is not read. A
	// hook that is one has no say.
	Async bool
	// Once runs it once in a session.
	Once bool
	// Source is where the hook was set, such as a place in a file, for errors
	// about it; "" says nothing.
	Source string
}

// Input is what happens, as a [Func] sees it. It must not be changed.
type Input struct {
	Event   Event
	Session string
	Origin  tool.Origin
	// Subject is what matchers of events are compared with that are not about
	// a call: how the session starts or why it ends, the type of an agent,
	// the model, the trigger, the kind of notification.
	Subject string
	// Fields are further fields of the payload, by their names in Claude
	// Code: prompt, stop_hook_active, last_assistant_message. They must be
	// fit for JSON.
	Fields map[string]any

	// The rest is set for events about a call.

	// CallID is the caller's id, Tool the canonical name, Aliases its other
	// names, Args the canonical arguments.
	CallID  string
	Tool    string
	Aliases []string
	Args    json.RawMessage
	// Act is what the call would do. Reads and Writes are its files as
	// absolute paths with their links followed.
	Act           permission.Act
	Reads, Writes []string
	// Summary is the line that a person is asked about.
	Summary string
	// Result is set after the call.
	Result *tool.Result
	// Rewritten are the hooks, by [Outcome].Rewriter, whose rewriting was
	// taken; the last of them made Args.
	Rewritten []int
}

// Answer is what a hook says. The zero value says nothing.
type Answer struct {
	Verdict Verdict
	// Reason is told to the model, or to the person who is asked. After a
	// call that with Deny is feedback.
	Reason string
	// Args, when not nil, replaces the arguments of a call that is not
	// refused. They are decoded, checked and judged again.
	Args json.RawMessage
	// Context is added for the model, Message told to the person.
	Context, Message string
	// Stop ends the agent's turn, for StopReason.
	Stop       bool
	StopReason string
}

// Outcome is what the hooks of an event say together.
type Outcome struct {
	// Verdict is the strongest word, Reason that of the first hook that said
	// it, and By that hook.
	Verdict Verdict
	Reason  string
	By      string
	// Args, when not nil, replaces the arguments; the hook Rewriter made them,
	// and RewriterAllows says that it allows what it made.
	Args           json.RawMessage
	Rewriter       int
	RewriterAllows bool
	// Feedback are the reasons of every hook that refused or complained, and
	// Context is what hooks add, each for the model, in the order of the
	// settings.
	Feedback, Context []string
	// Changed are files that hooks changed after a call, and Notes lines for
	// the model about it.
	Changed, Notes []string
	// Stop ends the agent's turn, for StopReason.
	Stop       bool
	StopReason string
}

// Report is what happened to a hook that a person should hear of: it failed,
// or it has something to say to them.
type Report struct {
	Event Event
	// Hook names it as the settings do.
	Hook string
	// CallID is that of the call, or "".
	CallID string
	// Failure says what went wrong, or is "". Failures is how often in a row.
	Failure  string
	Failures int
	// Tripped says that the breaker tripped with this failure.
	Tripped bool
	// Message is what the hook says to the person, or "".
	Message string
}
