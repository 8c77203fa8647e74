// Package output shapes what a tool answered into what a model may read:
// cleaned of what a terminal would obey, without secrets, and within a
// budget that says what it left out.
//
// A result goes through three steps, each usable alone. [Prepare] cleans
// and redacts the whole text. [Budget] cuts it and says how to go on.
// [FitMedia] bounds its images.
//
// Preparing never adds or removes a line: line 51 of the prepared text is
// line 51 of what the tool wrote. That is why the line numbers in a cut's
// marker, the ones that recall takes, and the ones of a stored result agree
// without a table between them.
package output
