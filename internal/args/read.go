package args

import (
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// maxWraps is how many layers around the arguments are taken off: a code
// fence around a string around an object, with one to spare.
const maxWraps = 4

// read reads the argument text and takes off what a model puts around it. It
// returns what was taken off, one line each. Text that is missing altogether,
// or null, means no arguments.
func read(text string) (jsondoc.Node, []string, error) {
	none := jsondoc.Node{Kind: jsondoc.Object}
	if strings.TrimSpace(text) == "" {
		return none, nil, nil
	}
	doc, notes, err := unwrap(text, maxWraps)
	if err != nil {
		return doc, nil, err
	}
	if doc.Kind == jsondoc.Null {
		return none, append(notes, "null was read as no arguments"), nil
	}
	return doc, notes, nil
}

// unwrap reads a text in which the arguments may stand behind a few layers.
// It only takes off what loses nothing.
func unwrap(text string, layers int) (jsondoc.Node, []string, error) {
	doc, err := jsondoc.Parse(text)
	switch {
	case layers == 0 || err == nil && doc.Kind != jsondoc.String:
		return doc, nil, err
	case err == nil:
		return unwrapString(doc, layers)
	}
	if inner, closed, ok := unfence(text); ok {
		doc, notes, inside := unwrap(inner, layers-1)
		if inside != nil || closed {
			return doc, append([]string{"the code fence around the arguments was taken off"}, notes...), inside
		}
		return doc, nil, err
	}
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) && syntax.CutOff {
		return doc, nil, err // of what is missing nothing is known
	}
	mended, commas, again := jsondoc.ParseTrailingCommas(text)
	if again != nil {
		return doc, nil, err
	}
	return mended, []string{fmt.Sprintf("trailing commas were dropped (%d)", commas)}, nil
}

// unwrapString reads the text of a string as the arguments, if it is an
// object or the beginning of one.
func unwrapString(doc jsondoc.Node, layers int) (jsondoc.Node, []string, error) {
	inner, notes, err := unwrap(doc.Text(), layers-1)
	var syntax *jsondoc.SyntaxError
	switch {
	case err == nil && inner.Kind == jsondoc.Object:
		return inner, append([]string{"the arguments came as one JSON string and were read as an object"}, notes...), nil
	case errors.As(err, &syntax) && strings.HasPrefix(strings.TrimSpace(doc.Text()), "{"):
		return doc, nil, err
	}
	return doc, nil, nil
}

// unfence returns what stands inside a Markdown code fence, and whether the
// fence is closed.
func unfence(text string) (inner string, closed, ok bool) {
	const fence = "```"
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), fence)
	if !ok {
		return "", false, false
	}
	first, body, ok := strings.Cut(rest, "\n")
	if !ok || strings.ContainsAny(first, "{[\"") { // that is no language tag
		return "", false, false
	}
	body, closed = strings.CutSuffix(strings.TrimSpace(body), fence)
	return body, closed, true
}
