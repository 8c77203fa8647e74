package tooltest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/tool"
)

// maxOutput is the largest output budget that makes sense, in bytes: no model
// takes in more at once.
const maxOutput = 1 << 20

// namePattern is what the model providers take as the name of a tool.
const namePattern = `^[a-zA-Z0-9_-]{1,64}$`

// declaration tries what the spec says outside its schemas.
func declaration(tb testing.TB, s *subject) {
	if c, ok := s.tool.(tool.Checker); ok {
		if err := c.Check(); err != nil {
			tb.Errorf("the tool reports a mistake in its own declaration: %v", err)
		}
	}
	spec := s.spec
	isName := regexp.MustCompile(namePattern).MatchString
	if !isName(spec.Name) {
		tb.Errorf("the name %q does not match %s", tool.Clip(spec.Name), namePattern)
	}
	for i, alias := range spec.Aliases {
		switch {
		case !isName(alias):
			tb.Errorf("the alias %q does not match %s", tool.Clip(alias), namePattern)
		case alias == spec.Name || slices.Contains(spec.Aliases[:i], alias):
			tb.Errorf("the alias %q is the name or another alias", alias)
		}
	}
	prose(tb, "the description", spec.Description)
	if strings.ContainsAny(spec.Title, "\r\n") || spec.Title != strings.TrimSpace(spec.Title) {
		tb.Errorf("the title %q is not one line without space around it", tool.Clip(spec.Title))
	}
	for _, label := range slices.Concat(spec.Tags, spec.Contexts) {
		if label == "" || strings.ContainsAny(label, " \t\r\n") {
			tb.Errorf("the tag or context %q is no word", label)
		}
	}
	budgets(tb, spec)
	effects(tb, spec)
	if spec.Concurrency == tool.Keyed {
		if _, ok := s.tool.(tool.Keyer); !ok {
			tb.Errorf("it is declared keyed and has no Key method")
		}
	}
}

// prose tries a text that a model reads.
func prose(tb testing.TB, what, text string) {
	tb.Helper()
	switch {
	case strings.TrimSpace(text) == "":
		tb.Errorf("%s is empty", what)
	case text != strings.TrimSpace(text):
		tb.Errorf("%s has space around it", what)
	case !utf8.ValidString(text):
		tb.Errorf("%s is not valid UTF-8", what)
	}
}

func budgets(tb testing.TB, spec tool.Spec) {
	tb.Helper()
	if spec.Timeout < 0 || spec.Timeout > tool.MaxTimeout {
		tb.Errorf("the timeout %v is not within 0 and %v", spec.Timeout, tool.MaxTimeout)
	}
	if spec.WaitsForPerson && spec.Timeout != 0 {
		tb.Errorf("it waits for a person, which has no deadline, and has a timeout of %v", spec.Timeout)
	}
	if spec.OutputBytes < 0 || spec.OutputBytes > maxOutput {
		tb.Errorf("the output budget of %d bytes is not within 0 and %d", spec.OutputBytes, maxOutput)
	}
}

func effects(tb testing.TB, spec tool.Spec) {
	tb.Helper()
	if spec.Effects&^(tool.AllEffects|tool.Pure) != 0 {
		tb.Errorf("the effects %#x have bits that mean nothing", uint16(spec.Effects))
	}
	if spec.Effects&tool.Pure != 0 && spec.Effects != tool.Pure {
		tb.Errorf("the effects %s say that it touches nothing and what it touches", spec.Effects)
	}
	changes := spec.Effects & (tool.Write | tool.Admin)
	if spec.Concurrency == tool.Safe && changes != 0 {
		tb.Errorf("it is declared safe to run beside other calls and has the effects %s", spec.Effects)
	}
}

// arguments tries the two schemas.
func arguments(tb testing.TB, s *subject) {
	s.decoder(tb)
	input, err := schema.Compile(s.spec.Input)
	if err != nil {
		tb.Fatal(err)
	}
	d := &described{tb: tb, seen: map[*schema.Schema]bool{}}
	d.walk(input, false, "the arguments")
	if s.spec.Output == nil {
		return
	}
	output, err := schema.Compile(s.spec.Output)
	if err != nil {
		tb.Errorf("the output schema: %v", err)
	} else if output.Kinds() != jsondoc.Object {
		tb.Errorf(`the output schema does not say "type": "object", which the protocols want`)
	}
}

// stable tries that the spec is the same every time.
func stable(tb testing.TB, s *subject) {
	for range 3 {
		if again := s.tool.Spec(); !reflect.DeepEqual(again, s.spec) {
			tb.Errorf("the spec differs from one call of Spec to the next:\n%+v\n%+v", s.spec, again)
			return
		}
	}
}
