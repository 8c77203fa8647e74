package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/test/clients/model"
	"github.com/handrail-tools/handrail/tool"
)

// report gathers what is wrong with one subject.
type report struct {
	who      string
	problems []string
	// done says in a few words each what was checked.
	done []string
}

// wrong notes what was expected at a step and what was seen instead.
func (r *report) wrong(step, expected, seen string) {
	r.problems = append(r.problems, fmt.Sprintf("%s, %s:\n  expected: %s\n  seen:     %s", r.who, step, expected, clip(seen)))
}

// failed notes an error.
func (r *report) failed(step string, err error) {
	if err != nil {
		r.wrong(step, "no error", err.Error())
	}
}

// did notes a check that was made.
func (r *report) did(format string, args ...any) {
	r.done = append(r.done, fmt.Sprintf(format, args...))
}

// maxSeen is how much of what was seen a failure shows, in bytes.
const maxSeen = 2000

func clip(text string) string {
	if len(text) <= maxSeen {
		return text
	}
	return text[:maxSeen/2] + " […] " + text[len(text)-maxSeen/2:]
}

// full is a tool's name with the namespace that it stands in.
func full(t model.Tool) string {
	if t.Space == "" {
		return t.Name
	}
	return t.Space + "/" + t.Name
}

// tools checks that every tool of ours is offered to the model, with its
// arguments, and nothing in our name that is none of ours.
func (r *report) tools(c client, ours []string, offered []model.Tool) {
	var names []string
	for _, t := range offered {
		names = append(names, full(t))
		if strings.HasPrefix(full(t), full(c.shown(""))) && !strings.Contains(string(t.Schema), `"properties"`) {
			r.wrong("list", "a schema of the arguments of "+full(t), string(t.Schema))
		}
	}
	var missing []string
	for _, name := range ours {
		if !slices.Contains(names, full(c.shown(name))) {
			missing = append(missing, full(c.shown(name)))
		}
	}
	if missing != nil {
		r.wrong("list", "the model is offered "+strings.Join(missing, ", "), strings.Join(names, ", "))
	}
	for _, name := range names {
		short, is := strings.CutPrefix(name, full(c.shown("")))
		if is && !slices.Contains(ours, short) {
			r.wrong("list", "nothing in our name that is not ours", name)
		}
	}
}

// shown checks what the model saw of each step.
func (r *report) shown(c client, script []step, seen []model.Result) {
	for i, s := range script {
		if i >= len(seen) {
			r.wrong(s.name, "a result reaches the model", "none")
			return
		}
		if !s.theirs {
			r.result(c, s, seen[i])
		}
	}
}

func (r *report) result(c client, s step, got model.Result) {
	for _, want := range s.shows {
		if !strings.Contains(got.Text, want) {
			r.wrong(s.name, fmt.Sprintf("the model sees %q", want), got.Text)
		}
	}
	for _, not := range s.hides {
		if strings.Contains(got.Text, not) {
			r.wrong(s.name, fmt.Sprintf("the model does not see %q", not), got.Text)
		}
	}
	if s.image && (len(got.Images) != 1 || !strings.HasPrefix(got.Images[0].MIME, "image/") || got.Images[0].Bytes == 0) {
		r.wrong(s.name, "the model sees one picture", fmt.Sprintf("%v; %s", got.Images, got.Text))
	}
	if failed := s.code != ""; c.marksErrors && got.Failed != failed {
		r.wrong(s.name, fmt.Sprintf("marked as an error: %v", failed), fmt.Sprintf("%v; %s", got.Failed, got.Text))
	}
}

// recorded checks what the server recorded of each step.
func (r *report) recorded(script []step, log []handrail.LogEntry) {
	for i, s := range script {
		if i >= len(log) {
			r.wrong(s.name, "the server records "+s.tool, "no further call")
			return
		}
		e := log[i]
		if e.Tool != s.tool || e.OK != (s.code == "") || e.Code != s.code || e.Origin.Kind != tool.OriginMCP {
			r.wrong(s.name, fmt.Sprintf("the server records mcp %s %q", s.tool, s.code),
				fmt.Sprintf("%s %s %q after %v: %s", e.Origin.Kind, e.Tool, e.Code, e.Duration, e.Reason))
		}
	}
	for _, e := range log[len(script):] {
		r.wrong("end", "no call that was not asked for", e.Tool)
	}
}
