// Package permission decides whether one act may happen: the mode says what
// needs no question, rules state the exceptions, and where neither settles
// it a person is asked.
//
// The order is fixed: a deny rule, then protected paths, then an ask rule,
// then an allow rule or a grant, then the mode. A deny or ask that matches
// any part of the act decides for the whole. An allow rule with a pattern grants
// only the effects that its pattern is about, and only where it covers every
// path or host of the act; what else the act would do is up to the mode.
//
// A command is judged by what package shellparse finds in its text. A deny
// rule that surely is about a part of it refuses; one that may be, since the
// part is computed or cannot be read, has a person asked, whatever else would
// allow it. Rules about files and hosts hold for those that the command
// names. An allow rule about commands lets one run where every part of it is
// covered or known for reading only. This says what a person wants to happen;
// what a command can do is held by the fence.
package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/foldname"
	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// Mode says what an act may do without anybody being asked.
type Mode string

// The modes. The zero value counts as ReadOnly.
const (
	// ReadOnly lets an act read beneath the workspace.
	ReadOnly Mode = "read-only"
	// WorkspaceWrite also lets it change files beneath the workspace.
	WorkspaceWrite Mode = "workspace-write"
	// FullAccess lets it do everything.
	FullAccess Mode = "full-access"
)

// Approval says when a person is asked.
type Approval string

// The approval policies. The zero value counts as OnRequest.
const (
	// OnRequest asks about what the mode does not cover.
	OnRequest Approval = "on-request"
	// Never asks nobody: what the mode does not cover is refused.
	Never Approval = "never"
	// Untrusted asks about everything that does more than read.
	Untrusted Approval = "untrusted"
	// Always asks about every act.
	Always Approval = "always"
)

var (
	modes     = []Mode{ReadOnly, WorkspaceWrite, FullAccess} // each lets happen what those before it do
	approvals = []Approval{OnRequest, Never, Untrusted, Always}
)

func words[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// Config is the permission section of the settings.
type Config struct {
	Mode     Mode     `json:"mode,omitempty"`
	Approval Approval `json:"approval,omitempty"`
	// Allow, Ask and Deny are rules: a tool's name or alias, or
	// Tool(pattern), where the pattern is a gitignore-style path for a tool
	// that touches files, seen from the top of the workspace where it has a
	// slash before its end, domain:HOST for one that reaches the network, or a
	// command for one that runs commands: "git status" is that command alone,
	// "git push:*" and "git push *" are it with any arguments, and "*"
	// elsewhere is any text. A rule for one of Handrail's tools that run
	// commands holds for all of them.
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// Outcome is what a judgement comes to.
type Outcome uint8

const (
	// Deny refuses. It is the zero value.
	Deny Outcome = iota
	// Ask needs a person's word.
	Ask
	// Allow lets the act happen.
	Allow
)

// String returns "deny", "ask" or "allow".
func (o Outcome) String() string { return [...]string{"deny", "ask", "allow"}[o] }

// Verdict is a judgement and its ground.
type Verdict struct {
	Outcome Outcome
	// Rule is what decided: a rule as it was written, or "mode read-only",
	// "approval always", "protected path".
	Rule string
	// Reason is one sentence for a person and for the model.
	Reason string
}

// Act is what is judged: a tool's own assessment with its paths resolved.
type Act struct {
	// Spec is the tool.
	Spec *tool.Spec
	// Effects are what this call would do.
	Effects tool.Effects
	// Reads and Writes are resolved workspace paths.
	Reads, Writes []string
	// Trees are resolved folders of which everything beneath may be read.
	Trees []string
	// Filtered says that the tool leaves out of its trees what
	// [Judge.Closed] names.
	Filtered bool
	// Protected is the first path that the workspace itself closes to the
	// call, or ""; ProtectedBy says why.
	Protected, ProtectedBy string
	// Unresolved is a path that could not be resolved, or "". What it means
	// is unknown, so that only a rule for every call or the mode
	// [FullAccess] lets it be read or written without a question.
	Unresolved string
	Hosts      []string
	// Command, and Unclear with it, are as in [tool.Act].
	Command, Unclear string
	// Program is what is known of Command from its text. nil with a command
	// is found out when it is needed.
	Program *shellparse.Program
	// Touches are the files that Command names, as [Act.Look] found them.
	Touches []Touch
	// Located says that Look could tell in which folder each part of Command
	// runs.
	Located bool
	// resumed is Program as it is in a shell that has run others before.
	resumed *shellparse.Program
	// Confined says that what the call starts is held by a fence to what the
	// mode allows. It is never the tool's own word.
	Confined bool
	// Unfenced says that the call asks to run outside of that fence.
	Unfenced bool
}

// Names resolves a name or alias to a tool; rules are checked against it.
type Names interface {
	Resolve(name string) (*tool.Spec, bool)
	Names() []string
}

// Judge holds a compiled configuration. It is immutable and safe for
// concurrent use. The zero value is read-only and asks on request.
type Judge struct {
	mode             Mode
	approval         Approval
	deny, ask, allow list
}

// New compiles a configuration. All its mistakes are reported at once.
func New(c Config, names Names) (*Judge, error) {
	j := &Judge{mode: c.Mode, approval: c.Approval}
	var bad []string
	if c.Mode != "" && !slices.Contains(modes, c.Mode) {
		bad = append(bad, unknown("mode", string(c.Mode), words(modes)))
	}
	if c.Approval != "" && !slices.Contains(approvals, c.Approval) {
		bad = append(bad, unknown("approval", string(c.Approval), words(approvals)))
	}
	for _, list := range []struct {
		name string
		from []string
		to   *list
	}{{"allow", c.Allow, &j.allow}, {"ask", c.Ask, &j.ask}, {"deny", c.Deny, &j.deny}} {
		var rules []rule
		for _, text := range list.from {
			r, err := parseRule(text, names)
			if err != nil {
				bad = append(bad, fmt.Sprintf("permission.%s: %v", list.name, err))
				continue
			}
			if list.name != "allow" {
				r.folded = foldname.Text(r.path)
			}
			rules = append(rules, r)
		}
		list.to.compile(rules)
	}
	if bad != nil {
		return nil, fmt.Errorf("permission settings:\n- %s", strings.Join(bad, "\n- "))
	}
	if j.mode == "" {
		j.mode = ReadOnly
	}
	if j.approval == "" {
		j.approval = OnRequest
	}
	return j, nil
}

func unknown(what, got string, known []string) string {
	msg := fmt.Sprintf("unknown %s %q; it is one of %s", what, tool.Clip(got), strings.Join(known, ", "))
	if near, ok := suggest.Nearest(got, known); ok {
		msg += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return msg
}

// Mode returns the mode in force.
func (j *Judge) Mode() Mode { return j.mode }

// Asks reports whether anybody is ever asked.
func (j *Judge) Asks() bool { return j.approval != Never }

// Exceptions returns the rules that are about single paths, hosts or commands,
// as they were written; no allow rules where a person is asked before those
// count.
func (j *Judge) Exceptions() (deny, ask, allow []string) {
	texts := func(rules []rule) (out []string) {
		for _, r := range rules {
			if !r.any {
				out = append(out, r.text)
			}
		}
		return out
	}
	if j.approval == OnRequest || j.approval == Never {
		allow = texts(j.allow.rules)
	}
	return texts(j.deny.rules), texts(j.ask.rules), allow
}

// Narrow returns a judge with the same rules and the narrower of the two
// modes; an empty mode changes nothing, an unknown one is an error.
func (j *Judge) Narrow(mode Mode) (*Judge, error) {
	i := slices.Index(modes, mode)
	if i < 0 && mode != "" {
		return nil, errors.New(unknown("mode", string(mode), words(modes)))
	}
	own := *j
	if i >= 0 && i < slices.Index(modes, j.mode) {
		own.mode = mode
	}
	return &own, nil
}

// Judge decides about an act. It does not ask anybody.
func (j *Judge) Judge(a Act) Verdict {
	a.program()
	denied, isDenied := j.deny.hit(&a, true)
	if isDenied && denied.sure {
		return Verdict{Deny, denied.rule, denied.reason("a deny rule covers ", "this call")}
	}
	if a.Protected != "" {
		return Verdict{Deny, "protected path", fmt.Sprintf("%s is closed to tools: %s", tool.Clip(a.Protected), tool.Clip(a.ProtectedBy))}
	}
	if isDenied {
		return j.asked(Verdict{Ask, denied.rule, denied.reason("a deny rule may cover ", "")})
	}
	if h, ok := j.ask.hit(&a, false); ok {
		verb := "an ask rule covers "
		if !h.sure {
			verb = "an ask rule may cover "
		}
		return j.asked(Verdict{Ask, h.rule, h.reason(verb, "this call")})
	}
	effects := a.Effects.Declared()
	reads := effects.Has(tool.Exec) && a.onlyReads()
	if j.approval == Always || j.approval == Untrusted && !effects.Within(tool.Read) && !reads {
		return Verdict{Ask, "approval " + string(j.approval), "a person is asked about every such call"}
	}
	if a.Unfenced && j.mode != FullAccess {
		return j.asked(Verdict{Ask, "mode " + string(j.mode), "the command would run outside of the fence that holds this session's commands"})
	}
	return j.permit(&a, reads)
}

// permit decides by the allow rules and the mode. reads says that the act is a
// command that only reads.
func (j *Judge) permit(a *Act, reads bool) Verdict {
	r, granted := matchAll(j.allow.plain, *a)
	if granted != tool.AllEffects {
		if by, all := j.permits(a); all != 0 {
			r, granted = by, all
		}
	}
	if granted == tool.AllEffects {
		return Verdict{Allow, r.text, "an allow rule covers this call"}
	}
	if reads {
		return Verdict{Allow, "mode " + string(j.mode), "the command is known to do nothing but read"}
	}
	effects := a.Effects.Declared()
	if a.Unresolved != "" && effects&(tool.Read|tool.Write) != 0 && j.mode != FullAccess {
		return j.asked(Verdict{Ask, "mode " + string(j.mode),
			fmt.Sprintf("the session has no workspace that could say what %s is", tool.Clip(a.Unresolved))})
	}
	if beyond := effects &^ j.covered(*a) &^ granted &^ tool.Pure; beyond != 0 {
		return j.asked(Verdict{Ask, "mode " + string(j.mode),
			fmt.Sprintf("the call may do more than this session allows by itself (%s)", beyond)})
	}
	if granted != 0 {
		return Verdict{Allow, r.text, "an allow rule covers this call"}
	}
	return Verdict{Allow, "mode " + string(j.mode), "the mode covers what the call does"}
}

// Question is the verdict where somebody beside the rules, such as a hook,
// wants a person asked about an act that the rules allow.
func (j *Judge) Question(rule, reason string) Verdict { return j.asked(Verdict{Ask, rule, reason}) }

// covered is what the mode lets happen without a question. What a fence holds
// may run: the fence was made for the mode, and for the network that the
// operator allows to commands.
func (j *Judge) covered(a Act) tool.Effects {
	switch j.mode {
	case FullAccess:
		return tool.AllEffects
	case WorkspaceWrite:
		if a.Confined {
			return tool.Read | tool.Write | tool.Exec | tool.Network
		}
		return tool.Read | tool.Write
	default:
		return tool.Read
	}
}

// asked turns a question into a refusal where nobody is ever asked.
func (j *Judge) asked(v Verdict) Verdict {
	if j.approval == Never {
		v.Outcome = Deny
		v.Reason += ", and nobody is asked in this session"
	}
	return v
}
