package dispatch

import (
	"context"
	"fmt"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// Rules are the rules of a session as they stand. [*permission.Live] has rules
// that change while the session runs, [*permission.Judge] some that never do.
// They must be safe for concurrent use.
type Rules interface {
	// Current returns the judge, and what tells its rules from others.
	Current() (judge *permission.Judge, version string)
	// Changed returns a channel that is closed when the rules are no longer
	// those that Current returns after this call; nil where they never change.
	Changed() <-chan struct{}
	// Offers returns what an answer for always could add about the act.
	Offers(a permission.Act) []permission.Offer
	// Keep adds rules, for always.
	Keep(rules []permission.Grant) error
}

// maxEdits is how often a person may change one call. Each time is a question,
// so that nobody gets here but a face that is broken.
const maxEdits = 20

// permit judges the act and asks a person where the judgement says so. What
// was answered under other rules is judged and asked about again, and so is a
// call that the person has changed.
func (t *trip) permit(ctx context.Context) *tool.Error {
	for {
		changed := t.d.Judge.Changed() // before the rules are looked at, so that no change is missed
		judge, version := t.d.Judge.Current()
		v := judge.Judge(t.act)
		if t.hookAsks != "" && v.Outcome == permission.Allow {
			v = judge.Question("hook", t.hookAsks)
		}
		v = t.hookAllowed(v)
		t.verdict, t.rule, t.by, t.version = v, v.Rule, judge, version
		t.note("permit", v.Reason, v.Rule)
		switch v.Outcome {
		case permission.Allow:
			return nil
		case permission.Ask:
			if again, refusal := t.ask(ctx, changed); !again {
				return refusal
			}
		default:
			return tool.Errorf(tool.CodeDenied, "%s was refused by %s: %s. Do not retry it unchanged; choose another way or tell the person.",
				t.spec.Name, tool.Clip(v.Rule), v.Reason)
		}
	}
}

// granted is what a yes covers that is for more than one look: the call, the
// files and the command that it meant when the yes was given, why it was asked
// about, and the very tool, since another may take its name.
type granted struct {
	entry *registry.Entry
	act   string
}

func (t *trip) grant() granted {
	a := t.act
	text := fmt.Sprintf("%s %q %q %q %q %q %q %q", permission.Digest(t.spec.Name, t.call.Args), t.verdict.Rule, t.verdict.Reason,
		a.Reads, a.Writes, a.Trees, a.Command, a.Unclear)
	for _, file := range a.Touches {
		text += fmt.Sprintf(" %q", file.Path)
	}
	return granted{t.resolved.Entry, permission.Digest("act", []byte(text))}
}

// edit puts a person's arguments in the place of the call's own and takes it
// again past whatever looks at arguments: hooks too, since none of them has
// seen these.
func (t *trip) edit(ctx context.Context, args []byte) *tool.Error {
	t.edits++
	switch {
	case t.instead != nil:
		return tool.Errorf(tool.CodeApprovalDenied, "the answer that came back changes what is read, which this call cannot do; it was not run")
	case t.edits > maxEdits:
		return tool.Errorf(tool.CodeApprovalDenied, "a person changed this call of %s more than %d times; it was not run", t.spec.Name, maxEdits)
	}
	t.hookAsks, t.hookAllows = "", false
	if err := t.rewrite(ctx, args, "a person"); err != nil {
		return err
	}
	return t.beforeHooks(ctx)
}
