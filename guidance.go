package handrail

import (
	"path/filepath"

	"github.com/handrail-tools/handrail/internal/guidance"
	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/internal/tools/exec"
	"github.com/handrail-tools/handrail/tool"
)

// Guidance returns what holds in the session, as a text for its model: what
// becomes of calls, what is closed, the limits, and the manners that go with
// tools. Nothing in it is written down beforehand about this or that setting:
// the judge that decides about calls is asked about each listed tool, and the
// rules are those that it holds. It changes when they do, and is the same as
// long as they are.
func (s *Session) Guidance() string {
	judge, _ := s.judge.Current()
	f := guidance.Facts{
		CanAsk:  s.options.Approver != nil && judge.Asks(),
		Checked: s.hooks.Has(hook.PreToolUse),
		Loops:   s.options.Guard == GuardEnforce,
		MaxArgs: tool.MaxArgs, MaxResult: tool.DefaultOutput,
		Timeout: s.dispatch.Timeout,
		Recall:  s.listed("recall"), Log: s.listed("workspace_log"), Undo: s.listed("undo"),
	}
	f.Deny, f.Ask, f.Allow = judge.Exceptions()
	s.describeFiles(&f)
	for _, l := range s.view.Specs() {
		switch s.usual(judge, l.Entry).Outcome {
		case Allow:
			f.Free = append(f.Free, l.Name)
		case Ask:
			f.Asked = append(f.Asked, l.Name)
		default:
			f.Refused = append(f.Refused, l.Name)
		}
	}
	return guidance.Text(f)
}

// listed is the name under which a tool may be called, or "".
func (s *Session) listed(name string) string {
	if r, err := s.view.Resolve(name); err == nil {
		return r.Shown
	}
	return ""
}

func (s *Session) describeFiles(f *guidance.Facts) {
	if s.files == nil {
		return
	}
	f.Folder = filepath.Base(s.files.Root())
	f.Further, f.ReadOnlyDirs = s.options.Files.Granted, s.options.Files.ReadOnlyDirs
	f.ReadOnly = s.files.ReadOnly()
	f.Unreadable, f.Protected = s.files.Patterns()
	for g := s.options.Files.Grants; g != nil; g = g.Above {
		fence := guidance.Fence{Patterns: g.Patterns, CreateOnly: g.CreateOnly}
		if g.Dir != "" && g.Dir != s.files.Root() {
			fence.From = filepath.Base(g.Dir)
		}
		f.Fences = append(f.Fences, fence)
	}
}

// usualPath stands for a path, and usualCommand for a command, that no rule
// names. The first is of a character that means nothing; in a command that
// would be taken for one that cannot be read.
const (
	usualPath    = "\uf8ff"
	usualCommand = "./handrail-usual-command"
)

// usual judges a call of a tool that no rule singles out, as the journey
// would: one of Handrail's own that says what a call would do by a path or a
// command that nothing is said of, and any other by all that it declares,
// since nobody knows what it would say.
func (s *Session) usual(judge *permission.Judge, e *registry.Entry) permission.Verdict {
	act := permission.Act{Spec: e.Spec, Effects: e.Spec.Effects, Filtered: e.Source == ""}
	if e.Assesser != nil && e.Source == "" {
		effects := e.Spec.Effects.Declared()
		if effects.Has(tool.Exec) {
			act.Command, act.Confined = usualCommand, s.confined()
			if s.kit != nil {
				act.Effects = exec.Effects(s.kit.Policy)
			}
			act.Look("", false, nil)
		} else if effects.Has(tool.Write) {
			act.Writes = []string{usualPath}
			if s.files != nil && s.files.ReadOnly() {
				act.Protected, act.ProtectedBy = usualPath, "this workspace is read-only"
			}
		} else if effects.Has(tool.Read) {
			act.Reads = []string{usualPath}
		}
	}
	return judge.Judge(act)
}
