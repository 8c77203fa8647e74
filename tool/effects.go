package tool

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Effects is the set of things that a tool, or one call of it, may do to the
// world. The zero value means "not declared" and counts as [AllEffects].
type Effects uint16

const (
	// Pure declares a tool that touches nothing outside its session.
	Pure Effects = 1 << iota
	// Read looks at files or other local state.
	Read
	// Write changes files or other local state.
	Write
	// Exec starts a program.
	Exec
	// Network reaches another machine.
	Network
	// Message reaches a person.
	Message
	// Delegate starts or steers another agent.
	Delegate
	// Admin changes Handrail itself or its settings.
	Admin

	// AllEffects is everything that a tool can do.
	AllEffects = Read | Write | Exec | Network | Message | Delegate | Admin
)

var effectNames = [...]string{"pure", "read", "write", "exec", "network", "message", "delegate", "admin"}

// Declared returns e, or [AllEffects] where e declares nothing.
func (e Effects) Declared() Effects {
	if e == 0 {
		return AllEffects
	}
	return e
}

// Has reports whether e, once [Effects.Declared], includes all of want.
func (e Effects) Has(want Effects) bool { return e.Declared()&want == want }

// Within reports whether everything that e declares is also in limit.
func (e Effects) Within(limit Effects) bool {
	return e.Declared()&^(limit.Declared()|Pure) == 0
}

// String lists the effects in the order of their declaration: "read,write".
// It says "undeclared" for the zero value.
func (e Effects) String() string {
	if e == 0 {
		return "undeclared"
	}
	return strings.Join(e.Names(), ",")
}

// Names returns the name of each effect in e, in the order of declaration.
func (e Effects) Names() []string {
	var names []string
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ParseEffect returns the effect of that name.
func ParseEffect(name string) (Effects, error) {
	for i, n := range effectNames {
		if n == name {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("unknown effect %q; the effects are %s", Clip(name), strings.Join(effectNames[:], ", "))
}

// MarshalJSON writes the effects as a list of names.
func (e Effects) MarshalJSON() ([]byte, error) {
	names := e.Names()
	if names == nil {
		names = []string{}
	}
	return json.Marshal(names)
}

// UnmarshalJSON reads a list of effect names; an unknown one is an error.
func (e *Effects) UnmarshalJSON(b []byte) error {
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return err
	}
	var all Effects
	for _, name := range names {
		one, err := ParseEffect(name)
		if err != nil {
			return err
		}
		all |= one
	}
	*e = all
	return nil
}
