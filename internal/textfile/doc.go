// Package textfile reads the bytes of a text file as its author meant them
// and puts changes back so that every byte outside the change stays what it
// was: the encoding, the byte order mark, each line's own ending and the
// presence of a final newline.
//
// The encoding is told by a byte order mark, then by being valid UTF-8, then
// by the pattern of zero bytes that UTF-16 leaves, and only then guessed. A
// guess that is not [Text.Confident] may be shown, but no text is ever
// encoded by it: such a file is changed only where the old and the new text
// are plain ASCII, by splicing bytes (see [Text.Transparent]).
package textfile
