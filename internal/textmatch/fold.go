package textmatch

// Fold returns a text with its typographic quotation marks, dashes and
// blanks as their ASCII cousins, for those who compare texts. What is written
// is never folded.
func Fold(s string) string {
	folded, _ := foldTypography(s)
	return folded
}
