package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/tool"
)

// Group is a named set of tools that an entry group:NAME stands for.
type Group struct {
	// Name is 1 to 64 of [a-z0-9_.:-] and does not begin with "robot:",
	// which is how octos spells tiers.
	Name string
	// Members are names of tools or aliases, prefixes that end in "*", and
	// other groups as group:NAME. A name need not be registered: groups are
	// the vocabulary of all sessions, not the roster of one.
	Members []string
}

// Vocabulary holds the words that entries may use besides the names of
// tools. It never changes once it is made, so it may be shared. The nil
// vocabulary stands for [DefaultVocabulary].
type Vocabulary struct {
	groups []Group
	// flat has the members of each group with its groups taken apart.
	flat  map[string][]string
	tiers []string
	tags  []string
	// names are the tool names that some group has as a member.
	names []string
}

// defaultGroups is octos' table (its newest full form) plus Handrail's own
// tools. Its order matters to a tool's home group: see [Vocabulary.HomeGroup].
var defaultGroups = []Group{
	{"fs", []string{"read_file", "write_file", "apply_patch", "edit_file", "diff_edit", "move_file", "delete_file", "make_dir", "view_image"}},
	{"runtime", []string{"shell", "exec_command", "write_stdin", "run_code", "bash"}},
	{"web", []string{"web_search", "web_fetch", "browser"}},
	{"search", []string{"glob", "grep", "list_dir"}},
	{"sessions", []string{"spawn", "spawn_agent", "send_input", "resume_agent", "wait_agent", "close_agent", "delegate"}},
	{"memory", []string{"recall", "recall_memory", "save_memory", "memory_note", "record_memory_use"}},
	{"research", []string{"search", "synthesize_research", "deep_crawl"}},
	{"admin", []string{"manage_skills", "configure_tool", "model_check"}},
	{"media", []string{
		"mofa_make", "mofa_describe_content_type", "mofa_comic", "mofa_slides", "mofa_infographic", "mofa_cards",
		"fm_tts", "fm_voice_list",
	}},
	{"history", []string{"workspace_log", "workspace_show", "workspace_diff", "undo"}},
	{"plan", []string{"update_plan"}},
	{"discovery", []string{"tool_search", "tool_suggest", "activate_tools"}},
	// What a delegated child may not do. It limits recursion and messages,
	// not what a command can reach: confinement is the sandbox's job.
	{"delegated", []string{"group:sessions", "delegate_task", "message", "save_memory", "memory_note"}},
}

var (
	defaultTiers = []string{"observe", "safe_motion", "full_actuation", "emergency_override"}

	// defaultTags are those that tools of Handrail or octos carry, so that
	// a policy may name them before any such tool is registered.
	defaultTags = []string{
		"admin", "bridge", "code", "discovery", "fs", "history", "http", "mcp", "media", "memory", "plan", "plugin", "robot",
		"runtime", "search", "sessions", "skill", "untrusted", "web",
	}
)

// DefaultVocabulary returns octos' groups and tiers with Handrail's own
// tools added. The group delegated contains the group sessions.
var DefaultVocabulary = sync.OnceValue(func() *Vocabulary {
	v, err := NewVocabulary(defaultGroups, defaultTiers, defaultTags)
	if err != nil {
		panic("the default vocabulary is broken: " + err.Error())
	}
	return v
})

// NewVocabulary makes a vocabulary of groups, tiers in rising order, and
// tags that a policy may name although no tool carries them yet. All that is
// wrong is reported at once.
func NewVocabulary(groups []Group, tiers, tags []string) (*Vocabulary, error) {
	v := &Vocabulary{
		groups: cloneGroups(groups),
		flat:   make(map[string][]string, len(groups)),
		tiers:  slices.Clone(tiers),
		tags:   slices.Clone(tags),
	}
	problems := v.check()
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if err := v.flatten(); err != nil {
		return nil, err
	}
	return v, nil
}

// With returns a vocabulary that has further groups, such as those that a
// source of tools brings. A group that exists already is an error.
func (v *Vocabulary) With(groups ...Group) (*Vocabulary, error) {
	v = v.orDefault()
	return NewVocabulary(append(slices.Clone(v.groups), groups...), v.tiers, v.tags)
}

// Groups returns the names of the groups in the order of their declaration.
func (v *Vocabulary) Groups() []string {
	v = v.orDefault()
	names := make([]string, 0, len(v.groups))
	for _, g := range v.groups {
		names = append(names, g.Name)
	}
	return names
}

// Members returns the tool names and prefixes that a group stands for, with
// the groups inside it taken apart, and false where there is no such group.
func (v *Vocabulary) Members(group string) ([]string, bool) {
	members, ok := v.orDefault().flat[group]
	return slices.Clone(members), ok
}

// HomeGroup returns the group that a tool is put away and brought back with:
// the first, in the order of declaration, that has it as a member. It
// returns "" for a tool of no group.
func (v *Vocabulary) HomeGroup(spec *tool.Spec) string {
	v = v.orDefault()
	for _, g := range v.groups {
		for _, member := range v.flat[g.Name] {
			if memberMatches(member, spec) {
				return g.Name
			}
		}
	}
	return ""
}

// Tiers returns the tiers in rising order.
func (v *Vocabulary) Tiers() []string { return slices.Clone(v.orDefault().tiers) }

func (v *Vocabulary) orDefault() *Vocabulary {
	if v == nil {
		return DefaultVocabulary()
	}
	return v
}

func memberMatches(member string, spec *tool.Spec) bool {
	prefix, wild := strings.CutSuffix(member, "*")
	match := func(name string) bool {
		if wild {
			return strings.HasPrefix(name, prefix)
		}
		return name == member
	}
	return match(spec.Name) || slices.ContainsFunc(spec.Aliases, match)
}

// check finds what is wrong with the words themselves.
func (v *Vocabulary) check() []error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	for _, g := range v.groups {
		switch {
		case !isLabel(g.Name):
			bad("group name %q: use 1 to %d of a-z 0-9 _ . : -", tool.Clip(g.Name), tool.MaxName)
		case strings.HasPrefix(g.Name, robotPrefix):
			bad("group name %q: %q spells a tier", g.Name, "group:"+robotPrefix)
		case seen[g.Name]:
			bad("group %q is declared twice", g.Name)
		}
		seen[g.Name] = true
		for _, m := range g.Members {
			if name, _ := strings.CutPrefix(m, "group:"); name == m && !isName(strings.TrimSuffix(m, "*")) {
				bad("group %q: member %q is neither a tool name, a prefix ending in * nor a group:NAME", g.Name, tool.Clip(m))
			}
		}
	}
	for _, list := range [][]string{v.tiers, v.tags} {
		for i, word := range list {
			if !isLabel(word) {
				bad("tier or tag %q: use 1 to %d of a-z 0-9 _ . : -", tool.Clip(word), tool.MaxName)
			} else if slices.Contains(list[:i], word) {
				bad("tier or tag %q is declared twice", word)
			}
		}
	}
	return problems
}

// flatten takes the groups inside groups apart.
func (v *Vocabulary) flatten() error {
	x := expansion{direct: make(map[string][]string, len(v.groups)), flat: v.flat}
	for _, g := range v.groups {
		x.direct[g.Name] = g.Members
	}
	var problems []error
	for _, g := range v.groups {
		if err := x.expand(g.Name, nil); err != nil {
			problems = append(problems, err)
		}
		for _, m := range v.flat[g.Name] {
			if !strings.HasSuffix(m, "*") {
				v.names = append(v.names, m)
			}
		}
	}
	slices.Sort(v.names)
	v.names = slices.Compact(v.names)
	return errors.Join(problems...)
}

type expansion struct{ direct, flat map[string][]string }

// expand fills in the members of a group; path holds the groups around it.
func (x expansion) expand(group string, path []string) error {
	if _, done := x.flat[group]; done {
		return nil
	}
	if slices.Contains(path, group) {
		return fmt.Errorf("group %q contains itself: %s", path[0], strings.Join(append(path, group), " > "))
	}
	path = append(slices.Clip(path), group)
	var all []string
	for _, m := range x.direct[group] {
		inner, isGroup := strings.CutPrefix(m, "group:")
		if !isGroup {
			all = append(all, m)
			continue
		}
		if _, ok := x.direct[inner]; !ok {
			return fmt.Errorf("group %q: there is no group %q", group, tool.Clip(inner))
		}
		if err := x.expand(inner, path); err != nil {
			return err
		}
		all = append(all, x.flat[inner]...)
	}
	slices.Sort(all)
	x.flat[group] = slices.Compact(all)
	return nil
}

func cloneGroups(groups []Group) []Group {
	cloned := slices.Clone(groups)
	for i := range cloned {
		cloned[i].Members = slices.Clone(cloned[i].Members)
	}
	return cloned
}

// isName reports whether text could be the name of a tool.
func isName(text string) bool {
	return isWord(text, func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	})
}

// isLabel reports whether text could be a group, tag or tier.
func isLabel(text string) bool {
	return isWord(text, func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':'
	})
}

func isWord(text string, ok func(byte) bool) bool {
	if text == "" || len(text) > tool.MaxName {
		return false
	}
	for i := range len(text) {
		if !ok(text[i]) {
			return false
		}
	}
	return true
}
