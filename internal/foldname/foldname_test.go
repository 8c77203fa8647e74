package foldname

import "testing"

func TestElem(t *testing.T) {
	for in, want := range map[string]string{
		"": "", ".": ".", "..": "..", "a": "a", "a.txt": "a.txt", ".GIT": ".git", ".git.": ".git", ".git. .": ".git", ".g\u200dit": ".git",
		"GIT~1": ".git", "Handra~1": ".handrail", "git~2": "git~2", "cafe\u0301": "cafÉ", "café": "cafÉ", "CAFÉ": "cafÉ", "CAFE\u0301": "cafÉ",
		"\u212a": "k", "\u017f": "s", "ID_RSA": "id_rsa",
	} {
		if got := Elem(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzText: folding is done once, and names that differ by case alone fold to
// the same.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "A/b", "CAFE\u0301", "\u212b", "ſ", "\xff", "a\u0345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if twice := Text(once); twice != once {
			t.Errorf("%q: %q, then %q", s, once, twice)
		}
	})
}
