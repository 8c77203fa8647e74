package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/tool"
)

var (
	someNames = []string{"read_file", "shell", "bash", "web_fetch", "web_search", "grep", "own_tool", "own_other", "spawn", "delegate"}
	someTags  = []string{"fs", "web", "untrusted", "robot", "tier:observe", "tier:safe_motion", "tier:full_actuation", "tier:emergency_override"}
)

func drawTool(t *rapid.T) *tool.Spec {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(someNames), 1, 3, rapid.ID[string]).Draw(t, "names")
	return &tool.Spec{
		Name:    names[0],
		Aliases: names[1:],
		Tags:    rapid.SliceOfNDistinct(rapid.SampledFrom(someTags), 0, 3, rapid.ID[string]).Draw(t, "tags"),
		Effects: tool.Effects(rapid.Uint16Range(0, uint16(tool.AllEffects|tool.Pure)).Draw(t, "effects")),
	}
}

func drawEntries(t *rapid.T, label string) []string {
	entry := rapid.Custom(func(t *rapid.T) string {
		return rapid.OneOf(
			rapid.SampledFrom(someNames),
			rapid.SampledFrom([]string{"*", "web_*", "own_*", "s*"}),
			rapid.SampledFrom([]string{"group:fs", "group:runtime", "group:web", "group:sessions", "group:delegated"}),
			rapid.Map(rapid.SampledFrom(someTags), func(s string) string { return "tag:" + s }),
			rapid.Map(rapid.SampledFrom((tool.AllEffects|tool.Pure).Names()), func(s string) string { return "effect:" + s }),
			rapid.Map(rapid.SampledFrom(policy.DefaultVocabulary().Tiers()), func(s string) string { return "tier:" + s }),
		).Draw(t, "entry") + "?"
	})
	entries := rapid.SliceOfN(entry, 0, 4).Draw(t, label)
	for i, e := range entries {
		if strings.HasPrefix(e, "effect:") {
			entries[i] = strings.TrimSuffix(e, "?") // effects cannot come later
		}
	}
	return entries
}

func drawConfig(t *rapid.T) policy.Config {
	c := policy.Config{Deny: drawEntries(t, "deny")}
	if rapid.Bool().Draw(t, "has an allow list") {
		c.Allow = drawEntries(t, "allow")
	}
	if rapid.Bool().Draw(t, "requires tags") {
		c.RequireTags = rapid.SliceOfN(rapid.SampledFrom(someTags), 1, 2).Draw(t, "required")
	}
	return c
}

// reference decides by the package comment, entry by entry, with nothing
// compiled.
func reference(c policy.Config, s *tool.Spec) bool {
	if slices.ContainsFunc(c.Deny, func(e string) bool { return refMatches(e, s, false) }) {
		return false
	}
	if c.Allow != nil && !slices.ContainsFunc(c.Allow, func(e string) bool { return refMatches(e, s, true) }) && !refWithin(c.Allow, s) {
		return false
	}
	return c.RequireTags == nil || slices.ContainsFunc(c.RequireTags, func(t string) bool { return slices.Contains(s.Tags, t) })
}

func refMatches(entry string, s *tool.Spec, allows bool) bool {
	entry = strings.TrimSuffix(entry, "?")
	kind, value, _ := strings.Cut(entry, ":")
	names := append([]string{s.Name}, s.Aliases...)
	switch kind {
	case "group":
		members, _ := policy.DefaultVocabulary().Members(value)
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(members, n) })
	case "tag":
		return slices.Contains(s.Tags, value)
	case "effect":
		e, _ := tool.ParseEffect(value)
		return !allows && s.Effects.Has(e)
	case "tier":
		tiers := policy.DefaultVocabulary().Tiers()
		strongest := -1
		for i, tier := range tiers {
			if slices.Contains(s.Tags, "tier:"+tier) {
				strongest = i
			}
		}
		limit := slices.Index(tiers, value)
		return strongest >= 0 && (allows && strongest <= limit || !allows && strongest >= limit)
	}
	if prefix, wild := strings.CutSuffix(entry, "*"); wild {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, prefix) })
	}
	return slices.Contains(names, entry)
}

// refWithin says whether the effect entries of an allow list admit a tool.
func refWithin(allow []string, s *tool.Spec) bool {
	var within tool.Effects
	for _, e := range allow {
		if name, ok := strings.CutPrefix(e, "effect:"); ok {
			e, _ := tool.ParseEffect(name)
			within |= e
		}
	}
	return within != 0 && s.Effects.Within(within)
}

func TestDecideAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := drawConfig(t), drawTool(t)
		p, err := policy.Compile(c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decide(s)
		if want := reference(c, s); d.Allowed != want {
			t.Fatalf("%+v of %+v: %+v, want allowed %v", c, s, d, want)
		}
		if d.Allowed != (d.Reason == "") {
			t.Fatalf("the reason does not go with the answer: %+v", d)
		}
	})
}

// No alias is a way round: whichever of its names a tool is denied by, and
// whichever of them is the canonical one, the answer is the same.
func TestL30_NamesOfAToolAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := drawConfig(t), drawTool(t)
		p, err := policy.Compile(c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := p.Decide(s)
		names := append([]string{s.Name}, s.Aliases...)
		for range names {
			names = append(names[1:], names[0])
			other := *s
			other.Name, other.Aliases = names[0], names[1:]
			if got := p.Decide(&other); got != want {
				t.Fatalf("as %q it is %+v, as %q %+v", s.Name, want, other.Name, got)
			}
		}
	})
}

// A further deny entry or required tag never allows more, and neither does a
// shorter allow list.
func TestPoliciesOnlyNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := drawConfig(t), drawTool(t)
		narrower := c
		narrower.Deny = append(slices.Clone(c.Deny), drawEntries(t, "more denied")...)
		if len(c.Allow) > 0 {
			narrower.Allow = c.Allow[:len(c.Allow)-1]
		} else if c.Allow == nil {
			narrower.Allow = drawEntries(t, "allowed")
		}
		wide, err := policy.Compile(c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		narrow, err := policy.Compile(narrower, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if narrow.Decide(s).Allowed && !wide.Decide(s).Allowed {
			t.Fatalf("%+v allows %+v and %+v does not", narrower, s, c)
		}
	})
}

// FuzzCompile feeds single entries: nothing crashes, what is refused is
// refused in every list, and an entry that is taken means the same tools in
// the allow list as in the deny list, where its kind says so.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"shell", "bash?", "web_*", "*", "*?", "group:fs", "group:robot:observe", "tag:code", "effect:exec", "tier:observe", "tier:x?",
		"", "?", "::", "group:", "a*b", "tag:tier:observe", "\x00", "ＳＨＥＬＬ", strings.Repeat("a", 65), "group:robot:", "group:robot:x?",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		deny, errDeny := policy.Compile(policy.Config{Deny: []string{entry}}, nil, house)
		allow, errAllow := policy.Compile(policy.Config{Allow: []string{entry}}, nil, house)
		if (errDeny == nil) != (errAllow == nil) {
			t.Fatalf("deny: %v; allow: %v", errDeny, errAllow)
		}
		if errDeny != nil {
			if len(errDeny.Error()) > 2000 {
				t.Fatalf("the error has %d bytes", len(errDeny.Error()))
			}
			return
		}
		opposite := !strings.HasPrefix(entry, "effect:") && !strings.HasPrefix(entry, "tier:") && !strings.HasPrefix(entry, "group:robot:")
		some := false
		for _, s := range house {
			denied, allowed := !deny.Decide(s).Allowed, allow.Decide(s).Allowed
			some = some || denied
			if opposite && denied != allowed {
				t.Fatalf("%s: denied %v, allowed %v", s.Name, denied, allowed)
			}
		}
		known := !strings.HasSuffix(entry, "?") && !strings.Contains(entry, ":") && !strings.HasSuffix(entry, "*")
		if _, registered := house.Resolve(entry); known && registered && !some {
			t.Fatal("the entry names a tool and denies none")
		}
	})
}

// FuzzConfig feeds policy texts: nothing crashes, and what is taken is
// written and read again without a change.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"allow":[]}`, `{"allow":null,"deny":["x"]}`, `{"deny":["a"],"deny":[]}`, `{"shell_writes":"warn"}`, `{"x":{"y":[1]}}`, `[`, `{"deny":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c policy.Config
		if c.UnmarshalJSON(text) != nil {
			return
		}
		if c.ShellWrites != "" {
			if _, err := policy.ParseShellWrites(string(c.ShellWrites)); err != nil {
				t.Fatal(err)
			}
		}
		deny, allowIsNil := len(c.Deny), c.Allow == nil
		again := mustMarshal(t, c)
		var back policy.Config
		if err := back.UnmarshalJSON(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if len(back.Deny) != deny || (back.Allow == nil) != allowIsNil {
			t.Fatalf("%s was read as %+v", again, back)
		}
	})
}
