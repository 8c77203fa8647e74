// Package textmatch finds the place in a text that a quotation means, when
// whoever quotes (a language model) may have got blanks, indentation,
// escapes, quotation marks or a few lines wrong; and it fits a replacement
// to the place that was found.
//
// [Find] tries stages from the strictest to the loosest. The first stage
// with any match decides: a looser one never settles what a stricter one
// found to be ambiguous. The stages, their order and the thresholds are
// those of octos, with one stage for typographic characters added from
// Codex.
//
// Texts have LF line ends. All work is bounded: by the length of the text
// times the length of the quotation for the line stages, and by a fixed
// budget for the comparison of similar lines.
package textmatch
