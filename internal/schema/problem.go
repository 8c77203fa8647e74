package schema

import "github.com/handrail-tools/handrail/internal/jsondoc"

// Bounds on one check. The largest arguments against the largest schemas of
// the field stay far below.
const (
	maxSteps    = 2_000_000
	maxNesting  = 4_000
	maxProblems = 500
)

// Verdict is what a check found. It is valid when there are no problems.
type Verdict struct {
	// Problems are what is wrong, in the order in which it was found.
	Problems []Problem
	// More is how many further problems were found and not kept.
	More int
	// Respelled says that somewhere a number such as 3.0 or 3e0 stands where
	// only an integer is allowed. That is valid, yet decoders stumble on it.
	Respelled bool
	// Stray says that somewhere an object has a property that its schema
	// does not name but takes, so that a misspelling would go unnoticed.
	Stray bool
}

// Exhausted reports whether the check was given up.
func (v *Verdict) Exhausted() bool { return len(v.Problems) == 1 && v.Problems[0].Keyword == Exhausted }

// Valid reports whether there is no problem.
func (v *Verdict) Valid() bool { return len(v.Problems) == 0 }

// Problem is one thing that is wrong with a value.
type Problem struct {
	// Path leads to the value.
	Path []jsondoc.Step
	// Value is the value, and Schema the schema that refused it.
	Value  *jsondoc.Node
	Schema *Schema
	// Keyword names the keyword that failed: one of JSON Schema's own,
	// "false" for a schema that takes nothing, or one of the constants.
	Keyword string
	// Key is the property that the problem is about, for "required",
	// "dependentRequired", "propertyNames" and [Unknown].
	Key string
	// Because is the property whose presence demands Key.
	Because string
	// Index and Other are two places: equal items for "uniqueItems", fitting
	// branches for "oneOf", where Other is -1 if none fits.
	Index, Other int
}

// Keywords of problems that JSON Schema has no single word for.
const (
	// Unknown is a property that the schema neither names nor takes.
	Unknown = "unknown"
	// Exhausted is a value and schema that take too much work to judge.
	Exhausted = "exhausted"
)
