// Package jsondoc reads JSON into a tree that remembers how it was written:
// the order of the keys, the digits of a number, the escapes of a string.
// What is not changed is written out as it came.
//
// It reads strictly, because two readers that disagree about a text are a way
// round every check: a key given twice, text that is not UTF-8, half of a
// surrogate pair, data after the end and nesting beyond [MaxDepth] are
// errors. Text that merely ends too early is told apart from text that is
// wrong ([SyntaxError.CutOff]), since nothing may be guessed about it.
//
// A tree is not safe for use by several goroutines while one changes it.
package jsondoc
