package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// Config is a policy as an operator writes it. The zero value denies
// nothing.
type Config struct {
	// Allow lists what may be used. nil means everything that is not
	// denied; an empty list means nothing.
	Allow []string `json:"allow,omitzero"`
	// Deny lists what may not be used. It wins over Allow.
	Deny []string `json:"deny,omitempty"`
	// RequireTags asks for at least one of these tags on a tool, so a tool
	// without tags fails. nil asks for none; an empty list, which no tool
	// could satisfy, is refused when the policy is compiled.
	RequireTags []string `json:"require_tags,omitzero"`
	// ShellWrites says what becomes of shell commands that write files.
	// Empty means [ShellWritesAllow].
	ShellWrites ShellWrites `json:"shell_writes,omitempty"`
}

// keys are the keys of a policy, sorted.
var keys = []string{"allow", "deny", "require_tags", "shell_writes"}

// UnmarshalJSON reads a policy strictly: an unknown key, a key that stands
// twice and a list entry that is not a string are errors.
func (c *Config) UnmarshalJSON(b []byte) error {
	doc, err := jsondoc.Parse(string(b))
	if err != nil {
		return fmt.Errorf("reading the policy: %w", err)
	}
	if doc.Kind != jsondoc.Object {
		return fmt.Errorf("a policy is an object with the keys %s, not %s", strings.Join(keys, ", "), doc.Kind)
	}
	var read Config
	var problems []error
	for i := range doc.Elems {
		if err := read.set(doc.Elems[i].Key, &doc.Elems[i].Node); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	*c = read
	return nil
}

func (c *Config) set(key string, value *jsondoc.Node) (err error) {
	switch key {
	case "allow":
		c.Allow, err = readList(value)
	case "deny":
		c.Deny, err = readList(value)
	case "require_tags":
		c.RequireTags, err = readList(value)
	case "shell_writes":
		if value.Kind != jsondoc.String {
			return fmt.Errorf("policy key shell_writes is allow, warn or deny, not %s", value.Kind)
		}
		c.ShellWrites, err = ParseShellWrites(value.Text())
	default:
		msg := fmt.Sprintf("unknown policy key %q", tool.Clip(key))
		if near, ok := suggest.Nearest(key, keys); ok {
			msg += fmt.Sprintf("; did you mean %q?", near)
		}
		return fmt.Errorf("%s The keys are %s", msg, strings.Join(keys, ", "))
	}
	if err != nil {
		return fmt.Errorf("policy key %s: %w", key, err)
	}
	return nil
}

// readList reads a list of strings; null is no list.
func readList(value *jsondoc.Node) ([]string, error) {
	if value.Kind == jsondoc.Null {
		return nil, nil
	}
	if value.Kind != jsondoc.Array {
		return nil, fmt.Errorf("a list of strings is expected, not %s", value.Kind)
	}
	list := make([]string, 0, len(value.Elems))
	for i := range value.Elems {
		entry := &value.Elems[i].Node
		if entry.Kind != jsondoc.String {
			return nil, fmt.Errorf("entry %d is %s, not a string", i+1, entry.Kind)
		}
		list = append(list, entry.Text())
	}
	return list, nil
}

// ShellWrites says what becomes of a shell command that writes files, where
// editing tools would do.
type ShellWrites string

// The values of shell_writes.
const (
	// ShellWritesAllow runs the command.
	ShellWritesAllow ShellWrites = "allow"
	// ShellWritesWarn runs it and adds a hint to its result.
	ShellWritesWarn ShellWrites = "warn"
	// ShellWritesDeny refuses it.
	ShellWritesDeny ShellWrites = "deny"
)

// ParseShellWrites reads a value of shell_writes. Empty means
// [ShellWritesAllow].
func ParseShellWrites(text string) (ShellWrites, error) {
	switch w := ShellWrites(text); w {
	case "":
		return ShellWritesAllow, nil
	case ShellWritesAllow, ShellWritesWarn, ShellWritesDeny:
		return w, nil
	}
	msg := fmt.Sprintf("unknown value %q; shell_writes is allow, warn or deny", tool.Clip(text))
	if near, ok := suggest.Nearest(text, []string{"allow", "warn", "deny"}); ok {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return "", errors.New(msg)
}

// UnmarshalText reads the value as [ParseShellWrites] does.
func (w *ShellWrites) UnmarshalText(text []byte) error {
	parsed, err := ParseShellWrites(string(text))
	if err != nil {
		return err
	}
	*w = parsed
	return nil
}

// ForProvider returns the policy for a model: that of its exact id, else
// that of its provider, else none. The two are never merged. What a session
// is given this way holds for its children too, whatever model they use.
func ForProvider(byProvider map[string]Config, model, provider string) (Config, bool) {
	for _, key := range []string{model, provider} {
		if key == "" {
			continue
		}
		if c, ok := byProvider[key]; ok {
			return c, true
		}
	}
	return Config{}, false
}
