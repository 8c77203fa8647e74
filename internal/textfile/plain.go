package textfile

// Plain returns the text of a file where nothing about it is a guess: its
// encoding is known, and every byte belongs to a character. Line ends stay; a
// byte order mark is left out. Of any other file it reports false: that is
// handed on as bytes or not at all.
func Plain(data []byte) (text string, ok bool) {
	t, err := Decode(data)
	if err != nil || !t.Confident || !t.Exact || t.Invalid > 0 {
		return "", false
	}
	return t.Content, true
}
