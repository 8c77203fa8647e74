// Package patch reads patches as language models write them and finds where
// they belong. It touches no file: [Parse] turns the text of a patch into a
// list of [File]s, and [File.Apply] turns the content of one file into the
// splices that change it.
//
// Three notations are read: the envelope that begins with "*** Begin Patch"
// (known from Codex), unified diffs, and the diffs of git. What a model tends
// to get wrong and what can be mended without a guess is mended: wrong line
// numbers and counts, ranges that are missing, empty context lines without
// their blank, carriage returns, a shell's here-document around it all.
//
// # Where a hunk belongs
//
// A hunk is looked for behind the one before it, by all its old lines: first
// as they are, then without trailing blanks, then without blanks at either
// end, then with typographic characters read as their ASCII cousins. Only a
// diff, which brings more context than it needs, may lose up to two context
// lines at its ends after that; a line that it removes must always be there.
// The first step that finds a place decides. If it finds several, then only
// what the patch itself says can choose: the order of its hunks, the line
// after @@, or the line number of a diff if one place is clearly nearer than
// every other. Otherwise the patch is refused.
//
// Context is never written: it stays in the file as it is. A line that is
// written ends as the line that it replaces or as its neighbour.
package patch
