package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/plain"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxArgsShown is how much of a call's arguments, and of the command that
	// it would run, a question shows, in bytes: about two screens.
	maxArgsShown = 4 << 10
	// maxTextShown is how much of any other text it shows, in bytes.
	maxTextShown = 300
	// maxPathsShown is how many paths or hosts of one kind it shows.
	maxPathsShown = 10
)

// question is what a person reads who is asked about a call. It is plain
// text: whatever comes from the model stays on its own line, with what
// steers or hides written out, and says how much of it is not shown.
func question(r handrail.ApprovalRequest) string {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintf(&b, "\n%s: %s", name, text) }
	b.WriteString("May this call run?")
	name := shown(r.Tool, maxTextShown)
	if spec := r.Act.Spec; spec != nil && spec.Title != "" && spec.Title != spec.Name {
		name += " (" + shown(spec.Title, maxTextShown) + ")"
	}
	line("Tool", name)
	line("What it would do", shown(r.Summary, maxTextShown))
	line("Effects", r.Act.Effects.String())
	for _, part := range []struct {
		name string
		list []string
	}{{"Reads", r.Act.Reads}, {"Reads all in", r.Act.Trees}, {"Writes", r.Act.Writes}, {"Reaches", r.Act.Hosts}} {
		if len(part.list) > 0 {
			line(part.name, shownList(part.list))
		}
	}
	if r.Act.Command != "" {
		line("Runs", shown(r.Act.Command, maxArgsShown))
	}
	line("Arguments", shown(string(r.Args), maxArgsShown))
	line("Asked by", shown(r.Rule, maxTextShown)+": "+shown(r.Reason, maxTextShown))
	if len(r.Offers) > 0 {
		line("Always would allow by the rule", shownList(r.Offers[0].Rules))
	}
	if !r.Expires.IsZero() {
		line("Waits for an answer until", r.Expires.Format(time.RFC3339))
	}
	return b.String()
}

// shown is a text on one line, cut to the limit.
func shown(s string, limit int) string {
	s = plain.Line(s)
	if len(s) <= limit {
		return s
	}
	kept := strings.TrimSuffix(tool.ClipText(s, limit), "…")
	return fmt.Sprintf("%s [%d bytes more, not shown]", kept, len(s)-len(kept))
}

func shownList(list []string) string {
	var parts []string
	for _, text := range list[:min(len(list), maxPathsShown)] {
		parts = append(parts, shown(text, maxTextShown))
	}
	text := strings.Join(parts, ", ")
	if more := len(list) - maxPathsShown; more > 0 {
		text += fmt.Sprintf(" [%d more, not shown]", more)
	}
	return text
}

// The answers that a form offers.
const (
	answerOnce    = "once"
	answerSession = "session"
	answerAlways  = "always"
	answerNo      = "no"
)

// form is what a person fills in. Who only accepts allows the call once.
// lasting says that the client has a session in which an answer can last; an
// answer for always is there where a rule can be written that says it.
func form(r handrail.ApprovalRequest, lasting bool) json.RawMessage {
	description, answers := "once: this call alone.", []string{answerOnce}
	if lasting {
		description += " session: this same call for the rest of the session."
		answers = append(answers, answerSession)
	}
	if len(r.Offers) > 0 {
		description += " always: the rule that the question shows is added to your settings for this workspace."
		answers = append(answers, answerAlways)
	}
	description += " no: it does not run."
	enum, _ := json.Marshal(append(answers, answerNo)) // strings can be marshalled
	return json.RawMessage(`{"type":"object","properties":{` +
		`"answer":{"type":"string","title":"Answer","description":"` + description + `","enum":` + string(enum) + `,"default":"once"},` +
		`"reason":{"type":"string","title":"Reason","description":"What the agent should know, if the answer is no."}}}`)
}

// byClient is how the record names the way that an answer came.
const byClient = "client"

// answered is what a client's answer to the question means. lasting says
// that the form offered an answer for the session.
func answered(r handrail.ApprovalRequest, action string, content map[string]any, lasting bool) (handrail.ApprovalAnswer, error) {
	reason, _ := content["reason"].(string)
	no := handrail.ApprovalAnswer{Digest: r.Digest, By: byClient, Reason: plain.Text(reason)}
	yes := handrail.ApprovalAnswer{Digest: r.Digest, By: byClient, Allow: true}
	switch action {
	case "accept":
	case "decline":
		return no, nil
	case "cancel":
		return handrail.ApprovalAnswer{}, tool.Errorf(tool.CodeApprovalRequired,
			"%s needs a person's approval and the question was closed without an answer. Do not retry by yourself; tell the person what you wanted to do.", r.Tool)
	default:
		return handrail.ApprovalAnswer{}, fmt.Errorf("the client answered with the action %q, which does not exist", cut(action))
	}
	answer, given := content["answer"]
	switch {
	case !given, answer == answerOnce:
		return yes, nil
	case answer == answerSession && lasting:
		yes.Scope = handrail.ForSession
		return yes, nil
	case answer == answerAlways && len(r.Offers) > 0:
		yes.Scope = handrail.ForAlways
		return yes, nil
	case answer != answerNo && no.Reason == "":
		no.Reason = "the form came back with an answer that it does not offer"
	}
	return no, nil
}
