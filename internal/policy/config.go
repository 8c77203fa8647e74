package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// UnmarshalJSON reads a policy strictly: an unknown key, a key that stands
// twice and a list entry that is not a string are errors, and all of them
// are reported at once.
func (c *Config) UnmarshalJSON(b []byte) error {
	var read Config
	fields := map[string]any{
		"allow":        &read.Allow,
		"deny":         &read.Deny,
		"require_tags": &read.RequireTags,
		"shell_writes": &read.ShellWrites,
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if start, err := dec.Token(); err != nil {
		return fmt.Errorf("reading the policy: %w", err)
	} else if start != json.Delim('{') {
		return errors.New("a policy is an object with the keys " + keyList(fields))
	}
	var problems []error
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return fmt.Errorf("reading the policy: %w", err)
		}
		key := token.(string) // a decoder yields nothing else between { and :
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("reading the policy's %s: %w", tool.Clip(key), err)
		}
		if seen[key] {
			problems = append(problems, fmt.Errorf("policy key %q stands twice", tool.Clip(key)))
		}
		seen[key] = true
		if err := readField(fields, key, value); err != nil {
			problems = append(problems, err)
		}
	}
	if _, err := dec.Token(); err != nil && err != io.EOF {
		return fmt.Errorf("reading the policy: %w", err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	*c = read
	return nil
}

func readField(fields map[string]any, key string, value json.RawMessage) error {
	field, ok := fields[key]
	if !ok {
		names := fieldNames(fields)
		msg := fmt.Sprintf("unknown policy key %q", tool.Clip(key))
		if near, ok := suggest.Nearest(key, names); ok {
			msg += fmt.Sprintf("; did you mean %q?", near)
		}
		return errors.New(msg + " The keys are " + strings.Join(names, ", "))
	}
	if list, ok := field.(*[]string); ok {
		return readList(key, value, list)
	}
	if err := json.Unmarshal(value, field); err != nil {
		return fmt.Errorf("policy key %s: %w", key, err)
	}
	return nil
}

// readList reads a list of strings. encoding/json would turn a null entry
// into an empty string.
func readList(key string, value json.RawMessage, list *[]string) error {
	var entries []*string
	if err := json.Unmarshal(value, &entries); err != nil {
		return fmt.Errorf("policy key %s is a list of strings: %w", key, err)
	}
	if entries == nil {
		*list = nil
		return nil
	}
	read := make([]string, 0, len(entries))
	for i, entry := range entries {
		if entry == nil {
			return fmt.Errorf("policy key %s: entry %d is null, not a string", key, i+1)
		}
		read = append(read, *entry)
	}
	*list = read
	return nil
}

func fieldNames(fields map[string]any) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func keyList(fields map[string]any) string { return strings.Join(fieldNames(fields), ", ") }

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
