// Package handrail is the tool system of an AI agent: what the agent's hands
// can do, and the rail that keeps them safe.
//
// [Open] gives a [Session]. Its [Session.Specs] are the tools to show to the
// model ([ToolsJSON] writes them for a provider), and [Session.Run] takes
// the model's calls: each is checked, judged, run inside the workspace, and
// answered with a bounded result.
//
// An own tool takes a struct and three lines:
//
//	type Args struct{ City string `json:"city" jsonschema:"name of the city"` }
//	weather := tool.Func("weather", "Tells the weather in a city.", tool.Pure,
//		func(ctx context.Context, in Args) (string, error) { return lookUp(ctx, in.City) })
//
// The zero [Options] are the careful ones: no files, nothing but reading
// without a question, and nobody who could be asked.
package handrail

import (
	"log/slog"
	"time"

	"github.com/handrail-tools/handrail/internal/dispatch"
	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/telemetry"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// The types of a session's parts. Each is documented where it is declared.
type (
	// Call is one call as a model asked for it.
	Call = dispatch.Call
	// Event is one thing that happened to a call.
	Event = dispatch.Event
	// Phase says at which point of a call an event was made.
	Phase = dispatch.Phase
	// Explanation is how a call would be judged.
	Explanation = dispatch.Explanation
	// Judgement is what one step says about a call.
	Judgement = dispatch.Judgement
	// Outcome is what a judgement comes to: Deny, Ask or Allow.
	Outcome = permission.Outcome
	// Spec is one tool as a session shows it: its name, description and
	// schema are those of the session's surface.
	Spec = tool.Spec

	// Policy says which tools may be used.
	Policy = policy.Config
	// Permission says what may happen without a question.
	Permission = permission.Config
	// Mode and Approval are its two settings.
	Mode     = permission.Mode
	Approval = permission.Approval
	// Approver asks a person.
	Approver = permission.Approver
	// ApprovalScope says how far a yes reaches, ApprovalOffer is what a yes for
	// always may write, and Grant a yes that reaches further than one call.
	ApprovalScope = permission.Scope
	ApprovalOffer = permission.Offer
	Grant         = permission.Grant
	// RuleBook keeps the rules that a person has allowed for always.
	RuleBook = permission.Book
	// ApprovalRequest is what a person is asked; ApprovalAnswer is the word
	// that comes back.
	ApprovalRequest = permission.Request
	ApprovalAnswer  = permission.Answer
	// WorkspaceOptions are the rules for files.
	WorkspaceOptions = workspace.Options
	// Exposure says which of the visible tools are listed.
	Exposure = registry.Exposure
	// GuardLevel says how far the loop guard goes.
	GuardLevel = guard.Level
	// ReadPaging counts reads.
	ReadPaging = telemetry.ReadPaging
	// LogFilter asks for finished calls, Log is the answer, and LogEntry one
	// of them.
	LogFilter = store.Filter
	Log       = store.Events
	LogEntry  = store.Event
)

// What an [Approver] returns or hears; each is documented where it is declared.
var (
	ErrNobody       = permission.ErrNobody
	ErrAnswered     = permission.ErrAnswered
	ErrCarried      = permission.ErrCarried
	ErrExpired      = permission.ErrExpired
	ErrRulesChanged = permission.ErrRulesChanged
)

// The settings of [Permission], and the outcomes of an [Explanation].
const (
	ReadOnly       = permission.ReadOnly
	WorkspaceWrite = permission.WorkspaceWrite
	FullAccess     = permission.FullAccess

	OnRequest = permission.OnRequest
	Never     = permission.Never
	Untrusted = permission.Untrusted
	Always    = permission.Always

	Deny  = permission.Deny
	Ask   = permission.Ask
	Allow = permission.Allow

	Once       = permission.Once
	ForSession = permission.ForSession
	ForAlways  = permission.ForAlways

	GuardEnforce = guard.Enforce
	GuardAdvise  = guard.Advise
	GuardOff     = guard.Off

	PhaseStarted  = dispatch.PhaseStarted
	PhaseProgress = dispatch.PhaseProgress
	PhaseAsked    = dispatch.PhaseAsked
	PhaseAnswered = dispatch.PhaseAnswered
	PhaseFinished = dispatch.PhaseFinished
	PhaseHook     = dispatch.PhaseHook
)

// Options say what a session has and may. The zero value is a session
// without files that may read, and asks nobody.
type Options struct {
	// Workspace is the folder beneath which the file tools work. Empty
	// leaves those tools out.
	Workspace string
	// Files are further rules for files beneath the workspace.
	Files WorkspaceOptions
	// History is what was changed in the workspace, so that it can be shown
	// and undone.
	History HistoryOptions
	// Commands say how the session's commands run.
	Commands CommandOptions
	// StateDir is where results, the event log and the history are kept.
	// Empty means a private temporary folder that goes with the session.
	StateDir string

	// Tools are the embedder's own. They are trusted code: what they
	// declare is believed.
	Tools []tool.Tool
	// NoBuiltins leaves all of Handrail's own tools out.
	NoBuiltins bool

	// Policy says which tools may be used. PolicyByProvider holds further
	// policies by model id or provider name; the exact model comes first,
	// and the one found applies beside Policy.
	Policy           Policy
	PolicyByProvider map[string]Policy
	Model, Provider  string

	// Permission says what may happen without a question; Approver is who
	// is asked otherwise. Without one and a Queue, what needs a question is
	// refused.
	// AskFor is how long a question stands, 0 as long as the call is wanted;
	// no other deadline of a call runs while a person thinks. Rules keeps what
	// a person allows for always; without it there is no such answer.
	Permission Permission
	Approver   Approver
	AskFor     time.Duration
	Rules      RuleBook
	// Queue puts every question also into the queue of StateDir, where other
	// processes may answer it; see [OpenApprovalQueue].
	Queue bool
	// Hooks run around calls and in the life of the session. A child session
	// has those of its parent.
	Hooks []Hook
	// Transcript is the file in which the embedder keeps the conversation, for
	// hooks that read it; "" where there is none.
	Transcript string

	// Surface is the set of names and schemas that the model is shown:
	// "handrail" (also the meaning of "") or "claude".
	Surface string
	// Context is the active model context; tools that declare contexts are
	// seen in those alone.
	Context string
	// Tags, unless nil, shows only tools with at least one of these tags.
	Tags     []string
	Exposure Exposure

	// Origin is who asks in this session.
	Origin tool.Origin
	// Guard is how far the loop guard goes. The zero value enforces.
	Guard GuardLevel
	// Timeout is the budget of a call whose tool names none. 0 means
	// [tool.DefaultTimeout].
	Timeout time.Duration
	// Secrets are values that are never shown to the model, whatever they
	// look like, by the name under which their absence is told.
	Secrets map[string]string

	// ShortenRepeats answers a read of a view that the model was given whole
	// before, of a file with the same content, by a line that names the
	// earlier result; the same call once more shows it again. It needs an
	// embedder that knows what its model still has before it and says so with
	// [Session.ContextCompacted]; leave it off where a client may drop parts
	// of the conversation unseen.
	ShortenRepeats bool
	// ProbeReads counts what a smaller window of reads would have meant, see
	// [Session.ReadPaging]. It changes no result.
	ProbeReads bool

	// OnEvent receives every event of every call. It must not block.
	OnEvent func(Event)
	// Logger receives what goes wrong outside of calls. nil discards.
	Logger *slog.Logger
}
