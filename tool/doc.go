// Package tool is the contract between Handrail and a tool: what a tool says
// of itself ([Spec]), what it is asked ([Call]), what one call would do
// ([Act]), and what it answers ([Result], [Error]).
//
// Most tools are written with [Func] or [Typed], which infer the JSON Schema
// of the arguments from a Go struct and hand over the decoded struct. A tool
// that needs the raw JSON implements [Tool] itself.
//
// The zero value of every declaration is the careful one: a tool that
// declares nothing runs alone, counts as having every effect, and is not
// shown to a profile that asks for tags.
//
// A tool's failure is data for the model: return a [Result] that is not OK,
// or an [*Error]. Any other error value becomes a result with [CodeFailed]
// and the error's text. A panic becomes [CodePanicked].
package tool
