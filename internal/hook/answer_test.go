package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	for _, c := range []struct {
		name   string
		event  Event
		in     reply
		want   Verdict
		reason string // a part of it
		fails  string // a part of the failure; "" where there is none
	}{
		{"nothing", PreToolUse, reply{}, Pass, "", ""},
		{"words", PreToolUse, reply{out: "looked at it\n"}, Pass, "", ""},
		{"empty object", PreToolUse, reply{out: "{}"}, Pass, "", ""},
		{"deny", PreToolUse, reply{out: deny}, Deny, "no", ""},
		{"allow", PreToolUse, reply{out: `{"hookSpecificOutput":{"permissionDecision":"allow"}}`}, Allow, "", ""},
		{"ask", PreToolUse, reply{out: `{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look"}}`}, Ask, "look", ""},
		{"defer asks", PreToolUse, reply{out: `{"hookSpecificOutput":{"permissionDecision":"defer"}}`}, Ask, "", ""},
		{"old block", PreToolUse, reply{out: `{"decision":"block","reason":"old"}`}, Deny, "old", ""},
		{"old approve", PreToolUse, reply{out: `{"decision":"approve"}`}, Allow, "", ""},
		{"old block beats new allow", PreToolUse, reply{out: `{"decision":"block","reason":"old","hookSpecificOutput":{"permissionDecision":"allow"}}`}, Deny, "old", ""},
		{"continue false", PreToolUse, reply{out: `{"continue":false,"stopReason":"enough"}`}, Deny, "enough", ""},
		{"exit 2", PreToolUse, reply{exit: 2, errout: "blocked\n"}, Deny, "blocked", ""},
		{"exit 2 says it on stdout", PreToolUse, reply{exit: 2, out: "blocked\n"}, Deny, "blocked", ""},
		{"exit 2 reads no JSON", PreToolUse, reply{exit: 2, out: `{"decision":"approve"}`, errout: "still"}, Deny, "still", ""},
		{"exit 1", PreToolUse, reply{exit: 1, errout: "Traceback"}, Pass, "", "exit code 1, which is neither 0 nor 2"},
		{"127", PreToolUse, reply{exit: 127, errout: "jq: command not found"}, Pass, "", "not found (exit code 127)"},
		{"126", PermissionRequest, reply{exit: 126}, Pass, "", "cannot be run"},
		{"cut off", PreToolUse, reply{out: deny[:40]}, Pass, "", "it is not JSON"},
		{"a list", PreToolUse, reply{out: `["deny"]`}, Pass, "", "a list is no answer"},
		{"a key twice", PreToolUse, reply{out: `{"decision":"block","decision":"approve"}`}, Pass, "", "cannot be read"},
		{"a typing mistake", PreToolUse, reply{out: `{"hookSpecificOutput":{"permisionDecision":"deny"}}`}, Pass, "", `"hookSpecificOutput.permisionDecision" is unknown; the keys are`},
		{"an unknown word", PreToolUse, reply{out: `{"decision":"reject"}`}, Pass, "", `the decision "reject" is unknown`},
		{"a wrong kind", PreToolUse, reply{out: `{"continue":"false"}`}, Pass, "", `"continue" must be boolean, not string`},
		{"another event", PreToolUse, reply{out: `{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}`}, Pass, "", "it is about Stop"},
		{"F252 a profile greets before the answer", PreToolUse, reply{out: "Welcome back!\n" + deny}, Deny, "no", ""},
		{"F252 a profile spoils the answer", PreToolUse, reply{out: "hi\n{\"decision\":"}, Pass, "", `"hi\n{`},
		{"F252 a greeting has no end of line", PreToolUse, reply{out: "Welcome back! " + deny}, Pass, "", "does not begin a line"},
		{"F253 a shim prints JSON before the answer", PreToolUse, reply{out: `{"agent":"x","note":"detected"}` + "\n" + deny}, Deny, "no", ""},
		{"F253 a shim cannot say no for it", PreToolUse, reply{out: `{"agent":"x"}` + "\n{}"}, Pass, "", ""},
		{"F253 a refusal is not undone by what follows", PreToolUse, reply{out: deny + "\n{}"}, Deny, "no", ""},
		{"text after the answer", PreToolUse, reply{out: "{}\ndone"}, Pass, "", "text follows the answer"},
		{"F254 the input comes back", PreToolUse, reply{out: `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}`}, Pass, "", "this is what the hook was told"},
		{"H9 a block after the call is feedback", PostToolUse, reply{out: `{"decision":"block","reason":"lint"}`}, Deny, "lint", ""},
		{"L63 a checker's findings are feedback", PostToolUse, reply{exit: 101, errout: "error[E0308]"}, Deny, "error[E0308]", ""},
		{"L63 a checker that says nothing has failed", PostToolUse, reply{exit: 101}, Pass, "", "exit code 101"},
		{"a rewrite after the call", PostToolUse, reply{out: `{"hookSpecificOutput":{"updatedInput":{}}}`}, Pass, "", "cannot be rewritten"},
		{"a person's yes", PermissionRequest, reply{out: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`}, Allow, "", ""},
		{"a person's no", PermissionRequest, reply{out: `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"not now","interrupt":true}}}`}, Deny, "not now", ""},
		{"a person's nothing", PermissionRequest, reply{out: `{"hookSpecificOutput":{"decision":{}}}`}, Pass, "", "has no behavior"},
		{"a prompt is blocked", UserPromptSubmit, reply{exit: 2, errout: "a key is in it"}, Deny, "a key is in it", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readReply(c.event, c.in)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%+v, %v; want the failure %q", got, err, c.fails)
				}
				return
			}
			if err != nil || got.Verdict != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Fatalf("%+v, %v; want verdict %d, reason %q", got, err, c.want, c.reason)
			}
		})
	}
}

func TestReadReplyCarries(t *testing.T) {
	a, err := readReply(PreToolUse, reply{out: `{"systemMessage":"for you","suppressOutput":true,"hookSpecificOutput":` +
		`{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls","n":9007199254740993},"additionalContext":"mind the gap"}}`})
	if err != nil || string(a.Args) != `{"command":"ls","n":9007199254740993}` || a.Context != "mind the gap" || a.Message != "for you" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = readReply(PreToolUse, reply{out: `{"hookSpecificOutput":{"permissionDecision":"deny","updatedInput":{}}}`}); err != nil || a.Args != nil {
		t.Errorf("a refusal rewrites: %+v, %v", a, err)
	}
	if a, err = readReply(SessionStart, reply{out: "branch main, 3 open issues\n"}); err != nil || a.Context != "branch main, 3 open issues" {
		t.Errorf("text at the start is context: %+v, %v", a, err)
	}
}

// FuzzReadReply: whatever a hook writes, a refusal has a reason and rewrites
// nothing, a rewriting is an object, and what begins like JSON and is none is
// a failure.
func FuzzReadReply(f *testing.F) {
	for _, seed := range []string{"", "{}", "hi", `{"decision":"block","reason":"x"}`, `{"continue":false}`, "{\"a\":1}\n{}", "[1]", `{"decision":`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}`,
		`{"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true}}}`, "\ufeff{}", "x\n{\"decision\":\"deny\"}\n"} {
		for exit := range 4 {
			f.Add(uint8(exit), exit, seed, "stderr")
		}
	}
	all := Events()
	f.Fuzz(func(t *testing.T, event uint8, exit int, out, errout string) {
		e := all[int(event)%len(all)]
		a, err := readReply(e, reply{exit, out, errout})
		k, _ := e.kind()
		if err == nil && a.Verdict == Deny && exit == 0 {
			for _, twin := range respelledAnswers(out) {
				if b, err := readReply(e, reply{exit, twin, errout}); err == nil && b.Verdict != Deny {
					t.Errorf("%q refuses and its twin %q does not", out, twin)
				}
			}
		}
		switch {
		case err != nil:
			if a.Verdict != Pass || a.Args != nil || a.Context != "" {
				t.Errorf("a failure says %+v", a)
			}
		case a.Verdict > Deny, a.Verdict == Deny && (a.Reason == "" || a.Args != nil):
			t.Errorf("%+v", a)
		case a.Args != nil && (!json.Valid(a.Args) || a.Args[0] != '{' || !k.gate):
			t.Errorf("rewritten to %q at %s", a.Args, e)
		case k.gate && exit != 0 && exit != exitBlock:
			t.Errorf("a gate that ended with %d counts as an answer: %+v", exit, a)
		}
		if first := strings.TrimSpace(out); err == nil && exit == 0 && strings.HasPrefix(first, "{") && k.gate {
			dec := json.NewDecoder(strings.NewReader(first))
			var any json.RawMessage
			if dec.Decode(&any) != nil {
				t.Errorf("%q is no JSON and was taken for an answer", out)
			}
		}
	})
}

// respelledAnswers are an answer with other blanks, other line ends and its
// letters written as escapes.
func respelledAnswers(out string) []string {
	twins := []string{"\n" + out + "\n", " \t" + out, out + "\r\n"}
	var b, wide bytes.Buffer
	if json.Indent(&b, []byte(out), "", "\t") != nil {
		return twins
	}
	within := false
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			within = !within
			wide.WriteByte(c)
		case c == '\\':
			wide.WriteString(out[i : i+2])
			i++
		case within && 'a' <= c && c <= 'z' && (i < 5 || !strings.Contains(out[i-5:i], `\`)):
			fmt.Fprintf(&wide, `\u%04x`, c)
		default:
			wide.WriteByte(c)
		}
	}
	return append(twins, b.String(), wide.String())
}
