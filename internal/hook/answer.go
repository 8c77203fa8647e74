package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/tool"
)

// A reply is what a hook's process or server came back with.
type reply struct {
	// exit is the status of a process; a server that answered has 0.
	exit        int
	out, errout string
}

// exitBlock is the status with which a hook refuses, as in Claude Code.
const exitBlock = 2

// readReply makes an answer of what came back. An error means that the hook
// failed.
func readReply(e Event, r reply) (Answer, error) {
	k, _ := e.kind()
	said := strings.TrimSpace(r.errout)
	if said == "" {
		said = strings.TrimSpace(r.out)
	}
	switch {
	case r.exit == 0:
		return readOutput(e, r.out)
	case r.exit == exitBlock:
		if said == "" {
			said = "it gave no reason"
		}
		return Answer{Verdict: Deny, Reason: said}, nil
	case r.exit == 127:
		return Answer{}, fmt.Errorf("its program was not found (exit code 127): %s", preview(said))
	case r.exit == 126:
		return Answer{}, fmt.Errorf("its program cannot be run (exit code 126): %s", preview(said))
	case (e == PostToolUse || e == PostToolUseFailure) && said != "":
		// A checker that has found something ends so, and what it found is
		// what it was run for.
		return Answer{Verdict: Deny, Reason: said}, nil
	case k.gate:
		return Answer{}, fmt.Errorf("it ended with exit code %d, which is neither 0 nor 2: %s", r.exit, preview(said))
	}
	return Answer{}, fmt.Errorf("it ended with exit code %d: %s", r.exit, preview(said))
}

// preview is the beginning of what a hook has written, for a person.
func preview(text string) string {
	if text == "" {
		return "it wrote nothing"
	}
	return "it wrote " + tool.Clip(fmt.Sprintf("%q", text))
}

// readOutput reads what a hook has written that ended well. Text is no answer,
// except where Claude Code takes it as context. An answer is the last JSON
// object; what stands before it was written by somebody else, such as a
// program that greets. Before an answer that was meant as one, however, the
// stronger word counts.
func readOutput(e Event, out string) (Answer, error) {
	out = strings.TrimSpace(strings.TrimPrefix(out, "\ufeff"))
	if out == "" {
		return Answer{}, nil
	}
	objects, err := jsonObjects(out)
	if err != nil {
		return Answer{}, fmt.Errorf("its answer cannot be read: %w: %s", err, preview(out))
	}
	if objects == nil {
		if e == SessionStart || e == UserPromptSubmit || e == SubagentStart {
			return Answer{Context: out}, nil
		}
		if k, _ := e.kind(); k.gate && slices.ContainsFunc(answerWords, func(w string) bool { return strings.Contains(out, w) }) {
			return Answer{}, fmt.Errorf("its answer cannot be read: it does not begin a line: %s", preview(out))
		}
		return Answer{}, nil
	}
	last := len(objects) - 1
	answer, err := readObject(e, &objects[last])
	if err != nil {
		return Answer{}, fmt.Errorf("its answer cannot be read: %w: %s", err, preview(out))
	}
	for i := range objects[:last] {
		if earlier, err := readObject(e, &objects[i]); err == nil && earlier.Verdict > answer.Verdict {
			answer.Verdict, answer.Reason, answer.Args = earlier.Verdict, earlier.Reason, nil
		}
	}
	return answer, nil
}

// jsonObjects finds the objects that stand in a text one after the other,
// each at the beginning of a line. There are none in a text no line of which
// begins like JSON.
func jsonObjects(text string) ([]jsondoc.Node, error) {
	var found []jsondoc.Node
	for text != "" {
		if text[0] != '{' && text[0] != '[' {
			line, rest, _ := strings.Cut(text, "\n")
			if found != nil {
				return nil, fmt.Errorf("text follows the answer (%s)", tool.Clip(fmt.Sprintf("%q", line)))
			}
			text = strings.TrimLeft(rest, " \t\r\n")
			continue
		}
		dec := json.NewDecoder(strings.NewReader(text))
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, errors.New("it is not JSON")
		}
		doc, err := jsondoc.Parse(string(raw))
		if err != nil {
			return nil, err
		}
		if doc.Kind != jsondoc.Object {
			return nil, errors.New("a list is no answer")
		}
		found = append(found, doc)
		text = strings.TrimLeft(text[dec.InputOffset():], " \t\r\n")
	}
	return found, nil
}

// answerWords give away a text that was meant as an answer, such as one that
// a program which greets has put itself in front of, in the same line.
var answerWords = []string{`"hookSpecificOutput"`, `"permissionDecision"`, `"decision"`, `"behavior"`, `"continue"`}

// answerKeys are the keys of an answer in Claude Code, and what each must be.
var answerKeys = map[string]jsondoc.Kinds{
	"continue": jsondoc.Bool, "stopReason": jsondoc.String, "suppressOutput": jsondoc.Bool, "systemMessage": jsondoc.String,
	"decision": jsondoc.String, "reason": jsondoc.String, "hookSpecificOutput": jsondoc.Object,
}

// specificKeys are those of its part about one event.
var specificKeys = map[string]jsondoc.Kinds{
	"hookEventName": jsondoc.String, "permissionDecision": jsondoc.String, "permissionDecisionReason": jsondoc.String,
	"updatedInput": jsondoc.Object, "additionalContext": jsondoc.String, "decision": jsondoc.Object,
}

// decisionKeys are those of the decision of a permission_request hook.
// updatedPermissions is read and not followed: a hook answers one question.
var decisionKeys = map[string]jsondoc.Kinds{
	"behavior": jsondoc.String, "updatedInput": jsondoc.Object, "message": jsondoc.String, "interrupt": jsondoc.Bool,
	"updatedPermissions": jsondoc.Array,
}

// checkKeys reports every key of an object that is unknown or of the wrong
// kind. An absent value may be written as null.
func checkKeys(where string, n *jsondoc.Node, known map[string]jsondoc.Kinds) error {
	if n.Find("hook_event_name") != nil {
		return errors.New("this is what the hook was told, and not an answer")
	}
	var bad []string
	for _, e := range n.Elems {
		kind, ok := known[e.Key]
		switch {
		case !ok:
			bad = append(bad, fmt.Sprintf("%q is unknown", tool.Clip(where+e.Key)))
		case e.Kind != jsondoc.Null && !kind.Has(e.Kind):
			bad = append(bad, fmt.Sprintf("%q must be %s, not %s", where+e.Key, kind, e.Kind))
		}
	}
	if bad == nil {
		return nil
	}
	hint := ""
	if strings.Contains(bad[0], "unknown") {
		hint = "; the keys are " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
	}
	return errors.New(tool.ClipText(strings.Join(bad, ", ")+hint, 1000))
}

// text is the member of that key, or "".
func text(n *jsondoc.Node, key string) string {
	if at := n.Find(key); at != nil {
		return at.Text()
	}
	return ""
}

// readObject reads one answer.
func readObject(e Event, n *jsondoc.Node) (Answer, error) {
	if err := checkKeys("", n, answerKeys); err != nil {
		return Answer{}, err
	}
	a := Answer{Message: text(n, "systemMessage")}
	if at := n.Find("continue"); at != nil && at.Kind == jsondoc.Bool && !at.True() {
		a.Stop, a.StopReason = true, text(n, "stopReason")
	}
	if err := a.decide(e, text(n, "decision"), text(n, "reason")); err != nil {
		return Answer{}, err
	}
	if at := n.Find("hookSpecificOutput"); at != nil && at.Kind == jsondoc.Object {
		if err := a.readSpecific(e, at); err != nil {
			return Answer{}, err
		}
	}
	if k, _ := e.kind(); a.Stop && k.tool && k.gate {
		if a.Verdict != Deny {
			a.Reason = a.StopReason
		}
		a.Verdict = Deny
	}
	if a.Verdict == Deny && a.Reason == "" {
		a.Reason = "it gave no reason"
	}
	return a, nil
}

// decide reads a word with its reason.
func (a *Answer) decide(e Event, word, reason string) error {
	switch word {
	case "":
		if reason != "" && a.Reason == "" {
			a.Reason = reason
		}
		return nil
	case "approve", "allow":
		a.stronger(Allow, reason)
	case "ask", "defer":
		a.stronger(Ask, reason)
	case "block", "deny":
		a.stronger(Deny, reason)
	default:
		return fmt.Errorf("the decision %q is unknown at %s; it is one of allow, ask, deny, approve, block", tool.Clip(word), e)
	}
	return nil
}

// stronger takes a word unless a stronger one was said.
func (a *Answer) stronger(v Verdict, reason string) {
	if v > a.Verdict {
		a.Verdict, a.Reason = v, reason
	}
}

// readSpecific reads the part about one event.
func (a *Answer) readSpecific(e Event, n *jsondoc.Node) error {
	if err := checkKeys("hookSpecificOutput.", n, specificKeys); err != nil {
		return err
	}
	if name := text(n, "hookEventName"); name != "" {
		if of, _, err := ParseEvent(name); err != nil || of != e {
			return fmt.Errorf("it is about %s and the event is %s", tool.Clip(name), e)
		}
	}
	a.Context = text(n, "additionalContext")
	input := n.Find("updatedInput")
	if err := a.decide(e, text(n, "permissionDecision"), text(n, "permissionDecisionReason")); err != nil {
		return err
	}
	if d := n.Find("decision"); d != nil && d.Kind == jsondoc.Object {
		if err := checkKeys("hookSpecificOutput.decision.", d, decisionKeys); err != nil {
			return err
		}
		if text(d, "behavior") == "" {
			return errors.New("hookSpecificOutput.decision has no behavior, which is allow or deny")
		}
		if err := a.decide(e, text(d, "behavior"), text(d, "message")); err != nil {
			return err
		}
		if at := d.Find("interrupt"); at != nil && at.True() && a.Verdict == Deny {
			a.Stop, a.StopReason = true, a.Reason
		}
		if at := d.Find("updatedInput"); at != nil {
			input = at
		}
	}
	if input != nil && input.Kind == jsondoc.Object && a.Verdict != Deny {
		if k, _ := e.kind(); !k.gate {
			return fmt.Errorf("a call cannot be rewritten at %s", e)
		}
		a.Args = input.JSON()
	}
	return nil
}
