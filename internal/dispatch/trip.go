package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/handrail-tools/handrail/internal/guard"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/registry"
	"github.com/handrail-tools/handrail/tool"
)

// trip is one call on its journey. One goroutine at a time works on it.
type trip struct {
	d     *Dispatcher
	batch *batch
	index int

	asked   Call
	instead Action // nil: the tool itself runs
	started time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc

	// What the steps find out, in the order in which they do.
	spec     *tool.Spec // nil until a tool was found
	resolved *registry.Resolved
	denied   *registry.DeniedError // set instead of resolved
	denial   *tool.Error
	raw      json.RawMessage // the arguments as they stand, before decoding
	call     tool.Call
	inside   context.Context // what the tool ran in
	repairs  []string
	place    *place
	hookAsks string // why a hook wants a person asked
	// hookAllows says that a hook answers the question that the mode puts.
	hookAllows bool
	hookNotes  []string // what hooks before the call have to say to the model
	stopTurn   string   // why a hook ends the agent's turn
	ran        bool     // the tool was started
	act        permission.Act
	assessed   tool.Act
	writes     []string // what it may write, as the workspace spells it
	verdict    permission.Verdict
	by         *permission.Judge // that gave the verdict
	version    string            // of its rules
	approved   granted           // what a person has said yes to for this call
	// approvedBy is the rule on record for that.
	approvedBy string
	edits      int               // how often a person has changed the call
	before     map[string]string // the state of what may be written
	result     *tool.Result
	finding    *guard.Finding
	notes      []string // lines that follow the result's text
	// abandoned says that the tool still runs; it gives up the place itself.
	abandoned bool

	refusal   *tool.Error
	refusedAt string
	rule      string // what decided, for the record
	// judging marks a trip of Explain: it asks nobody and counts nothing.
	judging bool
	trace   []Judgement
}

func (d *Dispatcher) newTrip(c Call, b *batch, index int) *trip {
	if c.ID == "" {
		c.ID = d.serial.next("call")
	}
	return &trip{d: d, batch: b, index: index, asked: c, raw: c.Args, started: time.Now()}
}

// name is the canonical name where it is known, else what was asked for.
func (t *trip) name() string {
	if t.spec != nil {
		return t.spec.Name
	}
	return tool.Clip(t.asked.Tool)
}

// standin is the place that the call would take, by its decoded arguments.
func (t *trip) standin() (*place, error) {
	p := t.unkeyed()
	if k := t.resolved.Entry.Keyer; k != nil && p.class == tool.Keyed {
		key, err := isolated(func() (string, error) { return k.Key(t.call.Args), nil })
		if err != nil {
			return nil, err
		}
		p.key = cmp.Or(key, p.key)
	}
	return p, nil
}

// unkeyed is the place of a call whose arguments are not known.
func (t *trip) unkeyed() *place { return &place{class: t.spec.Concurrency, key: t.spec.Name} }

// cascades reports whether a failure with that code cancels later calls.
func (t *trip) cascades(code tool.Code) bool {
	return t.spec != nil && t.spec.Concurrency != tool.Safe && code != tool.CodeInvalidInput && code != tool.CodeCancelled
}

// finish takes the rest of the way and gives the place up.
func (t *trip) finish() *tool.Result {
	defer t.cancel(nil)
	t.walk(t.ctx, passage)
	if t.place != nil {
		if !t.result.OK && t.cascades(t.result.Code) {
			t.batch.cascade(t)
		}
		if !t.abandoned {
			t.d.queue.leave(t.place)
		}
	}
	return t.result
}

// stopped says why ctx or the caller's own context ended, as the refusal that
// the model gets, or nil while the call may go on. A caller that gives up is
// heard by the calls of a batch one after the other, so the context of one
// may still be good when another has already left.
func (t *trip) stopped(ctx context.Context) *tool.Error {
	if ctx.Err() == nil {
		if ctx = t.batch.ctx; ctx.Err() == nil {
			return nil
		}
	}
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*tool.Error](cause); ok {
		return e
	}
	if budget, ok := errors.AsType[overBudget](cause); ok {
		return tool.Errorf(tool.CodeTimeout, "%s did not finish within its %s and was stopped", t.spec.Name, time.Duration(budget))
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return tool.Errorf(tool.CodeTimeout, "not finished: the caller's own deadline passed after %s", since(t.started))
	}
	return tool.Errorf(tool.CodeCancelled, "cancelled after %s", since(t.started))
}

func since(start time.Time) time.Duration { return time.Since(start).Round(time.Millisecond) }
