// Package args turns the argument text of a call into arguments that are
// valid for a tool, or into an error from which a model learns what to send.
//
// The text is read strictly and held against the tool's schema. What is valid
// goes through byte for byte. What is not is mended where there is exactly
// one thing that it can mean, and each such repair is recorded:
//
//   - the spelling of a key: letter case, "_", "-", and declared aliases
//   - a number or boolean in a string, where the schema takes no string
//   - 3.0 or 3e0 for an integer
//   - a JSON array or object in a string
//   - null for an optional argument that takes no null
//   - the text "null" for null
//   - one value where a list is wanted
//   - an enum value in another letter case
//   - around the whole: a trailing comma, a code fence, the arguments object
//     sent as one JSON string
//
// Everything else is an error that names all problems at once. Nothing is
// ever filled in, and a text that was cut off is never repaired.
package args
