package schema_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/schema"
)

// FuzzAgainstOracle holds our verdict against that of another validator.
func FuzzAgainstOracle(f *testing.F) {
	for _, seed := range [][2]string{
		{sixFields, `{"path":"x","mode":"text"}`},
		{`{"anyOf":[{"type":"integer"},{"minLength":2}],"not":{"const":3}}`, `3`},
		{`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":true}}],"if":{"required":["a"]},"then":{"maxProperties":1}}`, `{"a":1,"b":2}`},
		{`{"prefixItems":[{}],"items":{"type":"string"},"contains":{"const":"x"},"minContains":0,"uniqueItems":true}`, `[1,"x","x"]`},
		{`{"$defs":{"t":{"type":"object","properties":{"k":{"items":{"$ref":"#/$defs/t"}}}}},"$ref":"#/$defs/t"}`, `{"k":[{"k":[]}]}`},
		{`{"multipleOf":0.01,"exclusiveMaximum":1e3}`, `4.35`},
		{`{"patternProperties":{"^a":{"type":"null"}},"additionalProperties":{"type":"boolean"},"propertyNames":{"maxLength":3}}`, `{"ab":null,"c":true}`},
		{`{"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"minProperties":3}},"enum":[{"a":1}]}`, `{"a":1}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile([]byte(text))
		if err != nil {
			return
		}
		n, err := jsondoc.Parse(value)
		if err != nil {
			return
		}
		if strings.Contains(text, `"$id"`) || strings.Contains(text, "ynamic") {
			return // the oracle numbers resources in its own way
		}
		agree(t, s, text, &n, value)
	})
}

// agree holds our verdict on a value against the oracle's.
func agree(t interface{ Fatalf(string, ...any) }, s *schema.Schema, text string, n *jsondoc.Node, value string) {
	doc, err := oracle.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return
	}
	c := oracle.NewCompiler()
	if err := c.AddResource("schema:///root", doc); err != nil {
		return
	}
	theirs, err := c.Compile("schema:///root")
	if err != nil {
		return // its meta-schema is stricter about annotations
	}
	instance, err := oracle.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return
	}
	verdict := s.Check(n, schema.NewBudget())
	if s.Accepts(n, schema.NewBudget()) != verdict.Valid() {
		t.Fatalf("%s for %s: quiet and loud differ: %v", text, value, keywordsOf(verdict))
	}
	if want := theirs.Validate(instance); (want == nil) != verdict.Valid() {
		t.Fatalf("%s for %s: ours %v, theirs %v", text, value, keywordsOf(verdict), want)
	}
}

// TestAgainstOracle draws schemas and values from a small alphabet, so that
// they have something to do with each other, and holds our verdict against
// that of another validator.
func TestAgainstOracle(t *testing.T) {
	valid, invalid := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawSchema(t, 3)
		s, err := schema.Compile([]byte(text))
		if err != nil {
			t.Fatalf("compiling %s: %v", text, err)
		}
		for range 4 {
			value := drawValue(t, 3)
			n, err := jsondoc.Parse(value)
			if err != nil {
				t.Fatalf("parsing %s: %v", value, err)
			}
			agree(t, s, text, &n, value)
			if s.Accepts(&n, schema.NewBudget()) {
				valid++
			} else {
				invalid++
			}
		}
	})
	if valid < 40 || invalid < 40 {
		t.Errorf("%d valid and %d invalid values say too little", valid, invalid)
	}
}

func drawValue(t *rapid.T, depth int) string {
	kinds := []string{`null`, `true`, `false`, `0`, `1`, `2.0`, `1.5`, `-3`, `"a"`, `"bb"`, `""`, `"A"`}
	pick := rapid.IntRange(0, len(kinds)+5).Draw(t, "kind")
	switch {
	case pick < len(kinds):
		return kinds[pick]
	case depth == 0:
		return `{}`
	case pick < len(kinds)+2:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, key := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, key) {
			members = append(members, `"`+key+`":`+drawValue(t, depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func drawSchema(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{`true`, `false`, `{}`, `{"type":"integer"}`, `{"const":1}`, `{"minLength":1}`, `{"type":["string","null"]}`}).Draw(t, "leaf")
	}
	one := func() string { return drawSchema(t, depth-1) }
	list := func() string {
		var all []string
		for range rapid.IntRange(1, 3).Draw(t, "branches") {
			all = append(all, one())
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	words := map[string]func() string{
		"type": func() string {
			return rapid.SampledFrom([]string{`"object"`, `"array"`, `["object","array","integer"]`, `"number"`, `"string"`}).Draw(t, "type")
		},
		"properties":            func() string { return `{"a":` + one() + `,"b":` + one() + `}` },
		"patternProperties":     func() string { return `{"^[bc]$":` + one() + `}` },
		"additionalProperties":  one,
		"unevaluatedProperties": one,
		"propertyNames":         func() string { return `{"enum":["a","b"]}` },
		"required":              func() string { return `["a"]` },
		"dependentRequired":     func() string { return `{"a":["b"]}` },
		"dependentSchemas":      func() string { return `{"b":` + one() + `}` },
		"prefixItems":           list,
		"items":                 one,
		"unevaluatedItems":      one,
		"contains":              one,
		"maxContains":           func() string { return `1` },
		"minContains":           func() string { return `0` },
		"uniqueItems":           func() string { return `true` },
		"allOf":                 list,
		"anyOf":                 list,
		"oneOf":                 list,
		"not":                   one,
		"if":                    one,
		"then":                  one,
		"else":                  one,
		"enum":                  func() string { return `[1,"a",{"a":1.0},[]]` },
		"const":                 func() string { return drawValue(t, 1) },
		"minimum":               func() string { return `0.5` },
		"multipleOf":            func() string { return `0.5` },
		"maxLength":             func() string { return `1` },
		"pattern":               func() string { return `"^a"` },
		"minItems":              func() string { return `1` },
		"maxProperties":         func() string { return `1` },
	}
	names := slices.Sorted(maps.Keys(words))
	var members []string
	for _, word := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, "words") {
		members = append(members, `"`+word+`":`+words[word]())
	}
	return "{" + strings.Join(members, ",") + "}"
}
