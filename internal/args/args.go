package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// Schema decodes the arguments of one tool. It is immutable and safe for
// concurrent use.
type Schema struct {
	tool    string
	root    *schema.Schema
	aliases map[string]string // folded spelling to canonical name
}

// Compile prepares the decoding of a tool's arguments. The root of the schema
// must be an object. argAliases maps an argument of the schema to further
// spellings, as [tool.Spec.ArgAliases] has it.
func Compile(toolName string, text json.RawMessage, argAliases map[string][]string) (*Schema, error) {
	root, err := schema.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("compiling the input schema of %s: %w", tool.Clip(toolName), err)
	}
	if root.Kinds() != jsondoc.Object {
		return nil, fmt.Errorf(`compiling the input schema of %s: the root must say "type": "object"`, tool.Clip(toolName))
	}
	aliases, err := foldAliases(root, argAliases)
	if err != nil {
		return nil, fmt.Errorf("reading the argument aliases of %s: %w", tool.Clip(toolName), err)
	}
	return &Schema{tool: toolName, root: root, aliases: aliases}, nil
}

// foldAliases turns the declared aliases around and refuses any that could
// mean two things.
func foldAliases(root *schema.Schema, declared map[string][]string) (map[string]string, error) {
	names := propertyNames(static(root))
	folded := make(map[string]string)
	var errs []error
	for _, canonical := range slices.Sorted(maps.Keys(declared)) {
		if !slices.Contains(names, canonical) {
			errs = append(errs, fmt.Errorf("%q is no argument of the schema", tool.Clip(canonical)))
			continue
		}
		for _, alias := range declared[canonical] {
			key := suggest.Fold(alias)
			switch other, taken := folded[key]; {
			case key == "":
				errs = append(errs, fmt.Errorf("%q is no name", tool.Clip(alias)))
			case taken && other != canonical:
				errs = append(errs, fmt.Errorf("%q means both %q and %q", tool.Clip(alias), other, canonical))
			case slices.ContainsFunc(names, func(n string) bool { return n != canonical && suggest.Fold(n) == key }):
				errs = append(errs, fmt.Errorf("%q, an alias of %q, is an argument itself", tool.Clip(alias), canonical))
			default:
				folded[key] = canonical
			}
		}
	}
	return folded, errors.Join(errs...)
}

// Decoded are arguments that are valid.
type Decoded struct {
	// Args is a JSON object: the given text itself where nothing was
	// repaired, "{}" where nothing was given.
	Args json.RawMessage
	// Repairs says what was mended, one line each.
	Repairs []string
}

// Decode reads the arguments of one call. The error is a [*tool.Error] with
// [tool.CodeTooLarge] or [tool.CodeInvalidInput]; its text says all that is
// wrong and is at most [tool.MaxErrorText] bytes.
func (s *Schema) Decode(raw json.RawMessage) (Decoded, error) {
	if len(raw) > tool.MaxArgs {
		return Decoded{}, tool.Errorf(tool.CodeTooLarge, "The arguments of %s have %d bytes; the limit is %d. "+
			"Nothing was run. Send less in one call: a long text in parts, over several calls.", tool.Clip(s.tool), len(raw), tool.MaxArgs)
	}
	doc, around, err := read(string(raw))
	if err != nil {
		return Decoded{}, s.malformed(err)
	}
	if doc.Kind != jsondoc.Object {
		return Decoded{}, s.notObject(&doc)
	}
	verdict := s.root.Check(&doc, schema.NewBudget())
	if verdict.Valid() && !verdict.Respelled && !verdict.Stray {
		return decoded(raw, &doc, around), nil
	}
	return s.mend(raw, &doc, around, verdict)
}

// mend repairs what is not right as it stands and judges again.
func (s *Schema) mend(raw json.RawMessage, doc *jsondoc.Node, around []string, verdict schema.Verdict) (Decoded, error) {
	r := newRepairer(s.aliases)
	if !verdict.Exhausted() {
		r.value(doc, []*schema.Schema{s.root}, nil)
	}
	if !r.notes.empty() {
		again, err := jsondoc.Parse(string(doc.JSON()))
		if err != nil { // what was unpacked nests too deep together
			return Decoded{}, s.malformed(err)
		}
		*doc = again
		verdict = s.root.Check(doc, schema.NewBudget())
	}
	if !verdict.Valid() || len(r.conflicts) > 0 {
		return Decoded{}, s.explain(doc, verdict, r.conflicts)
	}
	return decoded(raw, doc, append(around, r.notes.list()...)), nil
}

// decoded returns the given text where nothing was repaired.
func decoded(raw json.RawMessage, doc *jsondoc.Node, repairs []string) Decoded {
	if len(repairs) > 0 || len(doc.Elems) == 0 {
		raw = doc.JSON() // of no arguments at all too, which may have come as no text
	}
	return Decoded{Args: raw, Repairs: repairs}
}
