package handrail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/dispatch"
	"github.com/handrail-tools/handrail/internal/hook"
	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

// The types of hooks. Each is documented where it is declared.
type (
	// Hook is one hook: when it runs, about what, and what it is.
	Hook = hook.Hook
	// HookFunc is a hook in Go.
	HookFunc = hook.Func
	// HookEvent is a point in the life of a session.
	HookEvent = hook.Event
	// HookInput is what a hook is told, and what [Session.Fire] takes.
	HookInput = hook.Input
	// HookAnswer is what one hook says, HookVerdict its word.
	HookAnswer  = hook.Answer
	HookVerdict = hook.Verdict
	// HookOutcome is what the hooks of an event say together.
	HookOutcome = hook.Outcome
	// HookReport is about a hook that failed or has something to say.
	HookReport = hook.Report
	// IdleHook is a hook that will not run.
	IdleHook = hook.Idle
)

// The events, words and settings of hooks.
const (
	PreToolUse         = hook.PreToolUse
	PermissionRequest  = hook.PermissionRequest
	PostToolUse        = hook.PostToolUse
	PostToolUseFailure = hook.PostToolUseFailure
	SessionStart       = hook.SessionStart
	SessionEnd         = hook.SessionEnd
	SubagentStart      = hook.SubagentStart
	SubagentStop       = hook.SubagentStop
	UserPromptSubmit   = hook.UserPromptSubmit
	TurnStart          = hook.TurnStart
	TurnStop           = hook.Stop
	PreLLMCall         = hook.PreLLMCall
	PostLLMCall        = hook.PostLLMCall
	PreCompact         = hook.PreCompact
	PostCompact        = hook.PostCompact
	Notification       = hook.Notification

	HookPass  = hook.Pass
	HookAllow = hook.Allow
	HookAsk   = hook.Ask
	HookDeny  = hook.Deny

	HookBlock    = hook.Block
	HookContinue = hook.Continue
)

// openHooks compiles the session's hooks. Nothing is started before one runs.
func (s *Session) openHooks() error {
	if len(s.options.Hooks) == 0 {
		return nil
	}
	top := s
	judge, _ := s.judge.Current()
	base := hook.Base{
		Root: s.root(), Project: s.options.Files.Top, Transcript: s.options.Transcript, Mode: judge.Mode(), Approval: s.options.Permission.Approval,
		Model: s.options.Model, Origin: s.options.Origin,
	}
	for ; top.parent != nil; top = top.parent {
		base.AgentID, base.AgentType = s.id, s.options.Origin.Name
	}
	base.Session = top.id
	commands, err := s.hookCommands()
	if err != nil {
		return err
	}
	s.hookRuns = commands
	s.hooks, err = hook.New(hook.Config{Hooks: s.options.Hooks, Base: base, Names: ruleNames{s.registry}, Commands: commands, Observe: s.hookReport})
	if s.parent == nil {
		for _, idle := range s.IdleHooks() {
			s.logger().Warn("a hook will not run", "event", idle.Event, "hook", idle.Hook, "source", idle.Source, "why", idle.Why)
		}
	}
	return err
}

// IdleHooks returns the session's hooks about calls that will not run, as
// their matcher is about no tool that there is. Tools may come later.
func (s *Session) IdleHooks() []IdleHook { return s.hooks.Idle(s.registry.All()) }

// hookCommands is where commands of hooks run: in the fence of the session's
// commands. A session that gives its model no commands has one for them alone.
// Those of a child run where its parent's do: they are the same, and what binds
// the child is not for them.
func (s *Session) hookCommands() (hook.Commands, error) {
	var c hook.Commands
	needed := false
	for i := range s.options.Hooks {
		needed = needed || s.options.Hooks[i].Command != ""
	}
	if s.files == nil || !needed {
		return c, nil
	}
	held, fences := sandbox.Policy{}, s.fences
	switch {
	case s.kit != nil:
		held = s.kit.Policy
	case s.parent == nil:
		var err error
		if held, err = s.fencePolicy(); err != nil {
			return c, err
		}
		fences = s.newFences(held)
	}
	c.Environment = s.environment()
	if s.parent != nil {
		c.Fence, c.Free = s.parent.hookRuns.Fence, s.parent.hookRuns.Free
	} else {
		c.Fence, c.Free = fences.held.open, fences.free.open
	}
	if s.witness != nil && held.Mode != sandbox.ReadOnly && held.Mode != "" {
		c.Watch = func(ctx context.Context) (func(context.Context) ([]string, []string), error) {
			watch, err := s.witness.Before(ctx, true, false)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) ([]string, []string) {
				receipt := watch.After(ctx)
				if changed := receipt.Changed(); len(changed) > 0 {
					return changed, []string{"Changed by a hook: " + tool.Clip(strings.Join(changed, ", ")) + ". Read it again before you edit it."}
				}
				return nil, nil
			}, nil
		}
	}
	return c, nil
}

// hookReport tells the log and the embedder of a hook.
func (s *Session) hookReport(r hook.Report) {
	for _, text := range []*string{&r.Failure, &r.Message} {
		*text = output.Prepare(*text, false, s.dispatch.Redactor).Text
	}
	switch {
	case r.Tripped:
		s.logger().Error("a hook has failed too often", "event", r.Event, "hook", r.Hook, "failures", r.Failures, "call", r.CallID, "failure", r.Failure)
	case r.Failure != "":
		s.logger().Warn("a hook failed", "event", r.Event, "hook", r.Hook, "failures", r.Failures, "call", r.CallID, "failure", r.Failure)
	default:
		s.logger().Info("a hook says", "event", r.Event, "hook", r.Hook, "call", r.CallID, "message", r.Message)
	}
	s.observe(Event{Phase: dispatch.PhaseHook, Session: s.id, Origin: s.options.Origin, CallID: r.CallID, Hook: &r})
}

// Fire runs the hooks of an event that belongs to whoever runs the agent: a
// prompt, a turn, a call of the model, a compaction, a notification, a
// sub-agent that stops. What they say is for the caller to follow: at
// [HookDeny] the prompt is not to be used, the turn not to end, the compaction
// not to be made; Context is to be put before the model. Event, Subject and
// Fields of in are used. Events that the session fires itself are an error.
func (s *Session) Fire(ctx context.Context, in HookInput) (HookOutcome, error) {
	if _, fires, err := hook.ParseEvent(string(in.Event)); err != nil || !fires || in.Event.Own() {
		return HookOutcome{}, errors.Join(fmt.Errorf("the event %q is not one to be fired from outside", tool.Clip(string(in.Event))), err)
	}
	if in.Event == hook.SubagentStop {
		s.stopTold.Store(true)
	}
	return s.hooks.Run(ctx, hook.Input{Event: in.Event, Subject: in.Subject, Fields: in.Fields}), nil
}

// Begin tells the session's hooks that it starts, once, and returns what they
// want the model to know at its start. The first call does it where nobody
// has; that call's result then carries what they said.
func (s *Session) Begin(ctx context.Context) []string {
	said := s.begin(ctx)
	s.startSaid.Store(true)
	return said
}

func (s *Session) begin(ctx context.Context) []string {
	event, subject := hook.SessionStart, "startup"
	if s.parent != nil {
		event, subject = hook.SubagentStart, s.options.Origin.Name
	}
	if !s.hooks.Has(event) {
		s.began.Store(true)
		return nil
	}
	s.starting.Do(func() {
		s.began.Store(true)
		s.startContext = s.hooks.Run(ctx, hook.Input{Event: event, Subject: subject}).Context
	})
	return s.startContext
}

// endGrace is how long a session waits at its end for hooks, whatever they
// are given. Codex waits 3 s; a hook that writes a summary takes longer.
const endGrace = 10 * time.Second

// endHooks tells hooks that the session ends, if they were told that it began.
func (s *Session) endHooks() error {
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	switch {
	case s.hooks == nil:
	case s.parent == nil && s.began.Load():
		s.hooks.Run(ctx, hook.Input{Event: hook.SessionEnd, Subject: "other"})
	case s.parent != nil && s.began.Load() && !s.stopTold.Load():
		s.hooks.Run(ctx, hook.Input{Event: hook.SubagentStop, Subject: s.options.Origin.Name, Fields: map[string]any{"stop_hook_active": false}})
	}
	ctx, stop := context.WithTimeout(context.Background(), closeGrace)
	defer stop()
	return s.hooks.Close(ctx)
}

// greet begins the session and returns what is to be said with its first
// result.
func (s *Session) greet(ctx context.Context) []string {
	if s.hooks == nil {
		return nil
	}
	if said := s.begin(ctx); len(said) > 0 && s.startSaid.CompareAndSwap(false, true) {
		return said
	}
	return nil
}

// said puts what hooks say at the start behind the first result.
func (s *Session) said(said []string, results []*tool.Result) []*tool.Result {
	if len(results) == 0 {
		return results
	}
	text := strings.TrimRight(results[0].Text, "\n")
	for _, line := range said {
		text += "\n\n[hook] " + output.Prepare(line, false, s.dispatch.Redactor).Text
	}
	results[0].Text = text
	return results
}
