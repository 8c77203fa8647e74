package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/doctor"
	"github.com/handrail-tools/handrail/internal/hook"
)

// hooksOf turns the hooks of the settings into those of a session. A gate that
// nothing here can run is an error; it would never refuse anything.
func hooksOf(settings []config.Hook) ([]handrail.Hook, error) {
	var all []handrail.Hook
	for _, h := range settings {
		event, fires, err := hook.ParseEvent(h.Event)
		if err != nil {
			return nil, fmt.Errorf("hooks: %q: %w", h.Event, err)
		}
		if h.Unused != "" {
			if event == handrail.PreToolUse || event == handrail.PermissionRequest {
				return nil, fmt.Errorf("hooks: %q: %s, so this one would guard nothing; write it as a command", h.Event, h.Unused)
			}
			continue
		}
		if !fires {
			continue
		}
		all = append(all, handrail.Hook{
			Event: event, Matcher: h.Matcher, If: h.If, Command: h.Command, Args: h.Args, URL: h.URL, Headers: h.Headers,
			AllowedEnv: h.AllowedEnv, Timeout: h.Timeout, OnFailure: hook.OnFailure(h.OnFailure),
			Unfenced: h.Fence != nil && !*h.Fence, Async: h.Async, Once: h.Once, Source: h.Where,
		})
	}
	return all, nil
}

// idleHooks says why hooks of the settings will not run, by their place there.
// A session is what knows the tools; where none can be opened nothing is said.
func (f *flags) idleHooks(ctx context.Context, settings []config.Hook) map[string]string {
	if len(settings) == 0 {
		return nil
	}
	s, _, err := f.open(ctx, handrail.Options{})
	if err != nil {
		return nil
	}
	idle := map[string]string{}
	for _, one := range s.IdleHooks() {
		idle[one.Source] = one.Why
	}
	_ = s.Close() // it did nothing
	return idle
}

// hookFacts says which hooks there are, whether they will ever run, and
// whether a program that is named by its path is there. idle are those that
// no tool is about.
func hookFacts(settings []config.Hook, root string, idle map[string]string) []doctor.Fact {
	var facts []doctor.Fact
	for _, h := range settings {
		f := doctor.Fact{Group: "hooks", Name: h.Event, State: doctor.OK, Value: hookText(h)}
		event, fires, err := hook.ParseEvent(h.Event)
		gate := event == handrail.PreToolUse || event == handrail.PermissionRequest
		switch missing := missingProgram(h.Command, root); {
		case err != nil:
			f.State, f.Matters = doctor.Missing, err.Error()
		case h.Unused != "":
			f.State, f.Matters = doctor.Missing, h.Unused
		case !fires:
			f.State, f.Matters = doctor.Missing, "nothing here fires this event"
		case idle[h.Where] != "":
			f.State, f.Matters = doctor.Missing, idle[h.Where]
		case missing != "" && gate && h.OnFailure != "continue":
			f.State, f.Matters = doctor.Missing, missing+" is not there, so every call that the hook is about is refused"
		case missing != "":
			f.State, f.Matters = doctor.Missing, missing+" is not there"
		}
		facts = append(facts, f)
	}
	return facts
}

// hookText is a hook in a few words.
func hookText(h config.Hook) string {
	words := []string{"command " + strings.Join(append([]string{h.Command}, h.Args...), " ")}
	switch {
	case h.URL != "":
		words[0] = "server " + h.URL
	case h.Unused != "":
		words[0] = h.Unused
	}
	if h.Matcher != "" {
		words = append(words, "about "+h.Matcher)
	}
	if h.If != "" {
		words = append(words, "if "+h.If)
	}
	if h.Fence != nil && !*h.Fence {
		words = append(words, "outside of the fence")
	}
	if h.OnFailure != "" {
		words = append(words, "on failure "+h.OnFailure)
	}
	return strings.Join(words, ", ")
}

// missingProgram is the path with which a command begins, where there is
// nothing at it. What the shell would have to work out is not looked at.
func missingProgram(command, root string) string {
	text := strings.TrimSpace(command)
	var word string
	if quote := strings.IndexAny(text, `"'`); quote == 0 {
		word, _, _ = strings.Cut(text[1:], text[:1])
	} else {
		word, _, _ = strings.Cut(text, " ")
	}
	word = strings.NewReplacer("${CLAUDE_PROJECT_DIR}", root, "$CLAUDE_PROJECT_DIR", root, `"`, "").Replace(word)
	if !strings.HasPrefix(word, "/") || strings.ContainsAny(word, "$`*?;|&(){}<>\\") {
		return ""
	}
	if _, err := os.Stat(word); err != nil {
		return word
	}
	return ""
}
