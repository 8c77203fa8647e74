package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/tool"
)

// Limits of a declaration. They keep a foreign tool from filling the
// provider's request; the largest built-in definition is a tenth of them.
const (
	// MaxDescription is the longest description, in bytes.
	MaxDescription = 16 << 10
	// MaxSchema is the largest input or output schema, in bytes. OpenAI
	// takes up to 120,000 characters for all strings of a schema.
	MaxSchema = 120_000
	// MaxTitle is the longest title, in bytes.
	MaxTitle = 200
	// MaxLabels is how many aliases, tags or contexts a tool may have.
	MaxLabels = 32
)

// checkSpec reports all that is wrong with a declaration. What is wrong with
// the schema as a schema is left to compiling it.
func checkSpec(s *tool.Spec) error {
	var p problems
	if !isName(s.Name) {
		p.addf("the name is not 1 to %d of a-z A-Z 0-9 _ -", tool.MaxName)
	}
	p.text("title", s.Title, MaxTitle)
	p.text("description", s.Description, MaxDescription)
	if strings.TrimSpace(s.Description) == "" {
		p.addf("there is no description; the model needs one")
	}
	p.schema("input", s.Input)
	if s.Output != nil {
		p.schema("output", s.Output)
	}
	p.aliases(s)
	p.labels("tag", s.Tags)
	p.labels("context", s.Contexts)
	if unknown := s.Effects &^ (tool.AllEffects | tool.Pure); unknown != 0 {
		p.addf("the effects have bits that mean nothing: %#x", uint16(unknown))
	}
	if s.Concurrency > tool.Keyed {
		p.addf("the concurrency class %d is unknown", s.Concurrency)
	}
	if s.Concurrency == tool.Safe && s.Effects != 0 && s.Effects&(tool.Write|tool.Admin) != 0 {
		p.addf("it is declared safe to run beside others and declares the effects %s; what writes is exclusive or keyed", s.Effects)
	}
	if s.Timeout < 0 || s.Timeout > tool.MaxTimeout {
		p.addf("the timeout %v is not between 0 and %v", s.Timeout, tool.MaxTimeout)
	}
	if s.WaitsForPerson && s.Timeout != 0 {
		p.addf("it waits for a person, which has no deadline, and declares a timeout")
	}
	if s.OutputBytes < 0 {
		p.addf("the output budget is negative")
	}
	return errors.Join(p...)
}

type problems []error

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

func (p *problems) text(what, text string, limit int) {
	if len(text) > limit {
		p.addf("the %s has %d bytes; at most %d are taken", what, len(text), limit)
	}
	if !utf8.ValidString(text) {
		p.addf("the %s is not valid UTF-8", what)
	}
}

func (p *problems) schema(what string, schema json.RawMessage) {
	if len(schema) > MaxSchema {
		p.addf("the %s schema has %d bytes; at most %d are taken", what, len(schema), MaxSchema)
		return
	}
	var root struct {
		Type any `json:"type"`
	}
	switch err := json.Unmarshal(schema, &root); {
	case len(schema) == 0:
		p.addf("there is no %s schema", what)
	case err != nil:
		p.addf("the %s schema is not a JSON object: %w", what, err)
	case root.Type != "object":
		p.addf(`the root of the %s schema does not say "type": "object"`, what)
	}
}

func (p *problems) aliases(s *tool.Spec) {
	if len(s.Aliases) > MaxLabels {
		p.addf("there are %d aliases; at most %d are taken", len(s.Aliases), MaxLabels)
		return
	}
	for i, alias := range s.Aliases {
		switch {
		case !isName(alias):
			p.addf("the alias %q is not 1 to %d of a-z A-Z 0-9 _ -", tool.Clip(alias), tool.MaxName)
		case alias == s.Name:
			p.addf("the alias %q is the tool's own name", alias)
		case slices.Contains(s.Aliases[:i], alias):
			p.addf("the alias %q stands twice", alias)
		}
	}
}

// labels checks tags and contexts: 1 to 64 of [a-z0-9_.:-], each once.
func (p *problems) labels(what string, labels []string) {
	if len(labels) > MaxLabels {
		p.addf("there are %d %ss; at most %d are taken", len(labels), what, MaxLabels)
		return
	}
	for i, label := range labels {
		switch {
		case !isLabel(label):
			p.addf("the %s %q is not 1 to %d of a-z 0-9 _ . : -", what, tool.Clip(label), tool.MaxName)
		case slices.Contains(labels[:i], label):
			p.addf("the %s %q stands twice", what, label)
		}
	}
}

func isName(s string) bool {
	return isWord(s, func(c byte) bool { return c >= 'A' && c <= 'Z' || isLower(c) })
}

func isLabel(s string) bool {
	return isWord(s, func(c byte) bool { return c == '.' || c == ':' || isLower(c) })
}

func isLower(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func isWord(s string, ok func(byte) bool) bool {
	if s == "" || len(s) > tool.MaxName {
		return false
	}
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}
