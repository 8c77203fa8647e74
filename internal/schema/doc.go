// Package schema compiles JSON Schema and holds values against it.
//
// It speaks draft 2020-12, and draft-07 and draft-06 where "$schema" says so,
// because that is what most tools of other people declare. Another dialect is
// an error, as are a keyword whose value makes no sense, a reference that
// leads out of the document (nothing is ever fetched), a schema that refers
// to itself without end, and one over [MaxBytes]. Keywords that the dialect
// does not have are ignored, and "format" and the "content…" keywords are
// annotations, as the specification has it.
//
// Check finds every problem at once. For a union it reports that no branch
// fits and leaves it to the caller which branch to explain. The work of one
// check is bounded, whatever the schema and the value.
//
// The package exists because the libraries that report all problems compile
// the meta-schemas of every draft when a program starts, which costs more
// than the whole of a short run. The JSON Schema test suite and a library of
// that kind, as an oracle, judge it in the tests.
//
// A compiled [Schema] is immutable and safe for concurrent use.
package schema
