package args

import (
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
	"github.com/handrail-tools/handrail/internal/suggest"
)

// maxBullets is how many problems are worded; a report has room for fewer.
const maxBullets = 200

// maxUnions is how deep unions within unions are followed in an explanation.
const maxUnions = 8

// explainer turns what the validator found into bullets.
type explainer struct {
	tool      *Schema
	budget    *schema.Budget
	bullets   []bullet
	more      int
	names     []string // lists of the names that are valid, one for each object that had others
	conflicts []bullet
}

// explain returns the error for arguments that are not valid.
func (s *Schema) explain(doc *jsondoc.Node, verdict schema.Verdict, conflicts []bullet) error {
	x := &explainer{tool: s, budget: schema.NewBudget(), conflicts: conflicts, bullets: slices.Clone(conflicts)}
	if b, ok := s.wrapper(doc, x.budget); ok {
		return report(s.tool, []bullet{b}, 0, s.validNames())
	}
	x.verdict(verdict, nil, 0)
	return report(s.tool, x.bullets, x.more, strings.Join(x.names, "\n"))
}

// wrapper recognises arguments that stand whole under a single unknown key.
func (s *Schema) wrapper(doc *jsondoc.Node, budget *schema.Budget) (bullet, bool) {
	if len(doc.Elems) != 1 || s.root.Mentions(doc.Elems[0].Key) {
		return bullet{}, false
	}
	inner := doc.Elems[0].Node
	if looksLikeJSON(&inner) {
		parsed, err := jsondoc.Parse(inner.Text())
		if err != nil {
			return bullet{}, false
		}
		inner = parsed
	}
	if inner.Kind != jsondoc.Object || !s.root.Accepts(&inner, budget) {
		return bullet{}, false
	}
	return bullet{
		rank: rankUnknown, path: pathString([]jsondoc.Step{{Key: doc.Elems[0].Key}}),
		text: "unknown; the arguments are wrapped in it (send what is inside as the arguments)",
	}, true
}

func (x *explainer) verdict(v schema.Verdict, under []jsondoc.Step, unions int) {
	x.more += v.More
	for _, p := range v.Problems {
		if len(x.bullets) == maxBullets {
			x.more++
			continue
		}
		p.Path = append(slices.Clip(under), p.Path...)
		x.problem(p, v.Problems, unions)
	}
}

func (x *explainer) add(rank int, path []jsondoc.Step, format string, args ...any) {
	x.bullets = append(x.bullets, bullet{rank: rank, path: pathString(path), text: fmt.Sprintf(format, args...)})
}

func (x *explainer) problem(p schema.Problem, all []schema.Problem, unions int) {
	s := p.Schema
	switch p.Keyword {
	case "required", "dependentRequired":
		x.missing(p, all)
	case schema.Unknown:
		x.unknown(p)
	case "type":
		x.kind(p.Path, p.Value, s.Types)
	case "enum", "const":
		values, _ := s.Literals()
		x.listed(p.Path, p.Value, values)
	case "anyOf":
		x.union(p, s.AnyOf, unions)
	case "oneOf":
		x.union(p, s.OneOf, unions)
	default:
		x.add(rankRest, p.Path, "%s", bound(p))
	}
}

func (x *explainer) missing(p schema.Problem, all []schema.Problem) {
	text := "missing; it is required"
	if p.Because != "" {
		text += " together with " + name(p.Because)
	}
	view := x.view(p)
	subs, _ := propertySchemas(view, p.Key)
	var sub *schema.Schema
	if len(subs) > 0 {
		sub = subs[0]
	}
	text += " (" + wanted(sub) + ")"
	var strays []string
	for i := range p.Value.Elems {
		if key := p.Value.Elems[i].Key; !mentioned(view, key) {
			strays = append(strays, key)
		}
	}
	if stray, ok := suggest.Nearest(p.Key, strays); ok {
		text += "; you sent " + name(stray) + ", was that meant?"
	}
	x.add(rankMissing, append(slices.Clip(p.Path), jsondoc.Step{Key: p.Key}), "%s", text)
}

func mentioned(view []*schema.Schema, key string) bool {
	return slices.ContainsFunc(view, func(s *schema.Schema) bool { return s.Mentions(key) })
}

func (x *explainer) unknown(p schema.Problem) {
	path := append(slices.Clip(p.Path), jsondoc.Step{Key: p.Key})
	at := pathString(path)
	if slices.ContainsFunc(x.conflicts, func(b bullet) bool { return b.key == p.Key && b.path == at }) {
		return
	}
	view := x.view(p)
	names := propertyNames(view)
	text := "unknown"
	if near, ok := suggest.Nearest(p.Key, names); ok {
		text += " (did you mean " + name(near) + "?)"
	}
	x.add(rankUnknown, path, "%s", text)
	if len(x.names) > 3 {
		return
	}
	list := nameList(view)
	if list == "" {
		list = "none"
	}
	line, place := "Valid arguments: "+list, 0 // those of the call come first
	if len(p.Path) > 0 {
		line, place = "Valid keys of "+pathString(p.Path)+": "+list, len(x.names)
	}
	if !slices.Contains(x.names, line) {
		x.names = slices.Insert(x.names, place, line)
	}
}

// view returns what applies to the object of a problem.
func (x *explainer) view(p schema.Problem) []*schema.Schema {
	return expand([]*schema.Schema{p.Schema}, p.Value, x.choose, x.budget)
}

func (x *explainer) kind(path []jsondoc.Step, n *jsondoc.Node, wanted jsondoc.Kinds) {
	text := fmt.Sprintf("expected %s, got %s", wanted, describe(n))
	if looksLikeJSON(n) && wanted.Has(jsondoc.Array|jsondoc.Object) {
		if _, err := jsondoc.Parse(n.Text()); err != nil {
			text += fmt.Sprintf("; the text is not valid JSON: %v", err)
		}
	}
	x.add(rankType, path, "%s", text)
}

// listed reports a value that is none of the listed ones.
func (x *explainer) listed(path []jsondoc.Step, n *jsondoc.Node, values []jsondoc.Node) {
	expected := "expected one of "
	if len(values) == 1 {
		expected = "expected "
	}
	expected += listValues(values)
	var texts []string
	for i := range values {
		texts = append(texts, values[i].Text())
	}
	if n.Kind != jsondoc.String {
		x.add(rankEnum, path, "%s is not allowed (%s)", show(n), expected)
		return
	}
	if inner, ok := bracketed(n); ok && meansOne(values, &inner) {
		x.add(rankEnum, path, "%s is not allowed; remove the brackets and quotes: send %s (%s)", show(n), show(&inner), expected)
		return
	}
	if near, ok := suggest.Nearest(n.Text(), texts); ok {
		expected += "; did you mean " + name(near) + "?"
	}
	x.add(rankEnum, path, "%s is not allowed (%s)", show(n), expected)
}

// bracketed returns the one item of a list that was sent as a text.
func bracketed(n *jsondoc.Node) (jsondoc.Node, bool) {
	if !looksLikeJSON(n) {
		return jsondoc.Node{}, false
	}
	list, err := jsondoc.Parse(n.Text())
	if err != nil || list.Kind != jsondoc.Array || len(list.Elems) != 1 {
		return jsondoc.Node{}, false
	}
	return list.Elems[0].Node, true
}

// union explains a value that no branch takes, or more than one does. It
// speaks of the branch that the value was meant for and of no other.
func (x *explainer) union(p schema.Problem, branches []*schema.Schema, unions int) {
	if p.Other >= 0 {
		x.add(rankRest, p.Path, "it fits more than one of the forms of which exactly one must fit (forms %d and %d)", p.Index+1, p.Other+1)
		return
	}
	if !p.Schema.Kinds().Has(p.Value.Kind) {
		x.kind(p.Path, p.Value, p.Schema.Kinds())
		return
	}
	if values, listed := p.Schema.Literals(); listed {
		x.listed(p.Path, p.Value, values)
		return
	}
	if fit := candidates(branches, p.Value, x.budget); len(fit) != 1 && x.tag(p, branches) {
		return
	}
	if b := x.choose(branches, p.Value); b != nil && unions < maxUnions {
		if v := b.Check(p.Value, x.budget); !v.Valid() && !v.Exhausted() {
			x.verdict(v, p.Path, unions+1)
			return
		}
	}
	x.add(rankRest, p.Path, "it fits none of the %d allowed forms: %s", len(branches), forms(branches))
}

// tag reports the tag by which a branch should have been chosen, if there is
// one and it is missing or wrong.
func (x *explainer) tag(p schema.Problem, branches []*schema.Schema) bool {
	tag, values, missing := badTag(branches, p.Value)
	if tag == "" {
		return false
	}
	path := append(slices.Clip(p.Path), jsondoc.Step{Key: tag})
	if missing {
		x.add(rankMissing, path, "missing; it is required (one of %s)", listValues(values))
	} else {
		x.listed(path, p.Value.Find(tag), values)
	}
	return true
}

// choose picks the branch that a value was meant for: the only one that its
// kind, tags and shape leave, or the one with the fewest problems.
func (x *explainer) choose(branches []*schema.Schema, n *jsondoc.Node) *schema.Schema {
	fit := meant(branches, n, x.budget)
	if len(fit) == 1 {
		return fit[0]
	}
	var best *schema.Schema
	least := 0
	for _, b := range fit {
		v := b.Check(n, x.budget)
		switch count := weight(v); {
		case v.Exhausted():
			return nil
		case best == nil || count < least:
			best, least = b, count
		case count == least:
			return nil
		}
	}
	return best
}

// weight counts problems; those about the value's own keys say more about
// which branch it was meant for than anything inside.
func weight(v schema.Verdict) int {
	const own = 1000
	count := v.More
	for _, p := range v.Problems {
		count++
		if len(p.Path) == 0 {
			count += own
		}
	}
	return count
}

// forms describes the branches of a union by the properties they have.
func forms(branches []*schema.Schema) string {
	var list []string
	for i, b := range branches {
		if i == 5 {
			list = append(list, fmt.Sprintf("… and %d more", len(branches)-i))
			break
		}
		if names := nameList(static(b)); names != "" {
			list = append(list, "{"+names+"}")
		} else {
			list = append(list, typeName(b))
		}
	}
	return strings.Join(list, " or ")
}
