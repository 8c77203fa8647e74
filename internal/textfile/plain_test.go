package textfile

import "testing"

func TestPlain(t *testing.T) {
	for data, want := range map[string]string{
		"": "", "a\r\nb": "a\r\nb", "\xef\xbb\xbfbom": "bom", "\xff\xfeh\x00i\x00": "hi", "é": "é",
	} {
		if text, ok := Plain([]byte(data)); !ok || text != want {
			t.Errorf("%q: %q, %t", data, text, ok)
		}
	}
	for _, data := range []string{"\xff\xd8\xff\xe0\x00\x10JFIF", "caf\xe9 au lait", "a\xff", "\x89PNG\r\n\x1a\n", "\xff\xfeh\x00i"} {
		if text, ok := Plain([]byte(data)); ok {
			t.Errorf("%q is taken for the text %q", data, text)
		}
	}
}
