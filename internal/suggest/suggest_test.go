package suggest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/suggest"
)

func TestNearest(t *testing.T) {
	for _, tc := range []struct {
		name, word string
		candidates []string
		want       string
	}{
		{"same after folding", "filePath", []string{"file", "file_path"}, "file_path"},
		{"case only", "PATH", []string{"path", "patch"}, "path"},
		{"dash", "old-string", []string{"old_string", "new_string"}, "old_string"},
		{"suffix", "file_path", []string{"limit", "path"}, "path"},
		{"prefix", "path", []string{"limit", "path_to_file"}, "path_to_file"},
		{"two letters", "ofset", []string{"offset", "limit"}, "offset"},
		{"swapped letters", "raed_file", []string{"read_file", "write_file"}, "read_file"},
		{"a third of a long word", "max_results_per_fil", []string{"max_results_per_file"}, "max_results_per_file"},
		{"smallest distance wins", "pathh", []string{"file_pathh", "path"}, "path"},
		{"unicode", "größe", []string{"Größe", "groesse"}, "Größe"},
		{"nothing near", "temperature", []string{"path", "limit"}, ""},
		{"short affix is no hint", "id", []string{"recursive_id_list"}, ""},
		{"no letter in common", "cp", []string{"mv"}, ""},
		{"one letter", "a", []string{"b"}, ""},
		{"empty word", "", []string{"path"}, ""},
		{"only separators", "__--", []string{"path", "--"}, ""},
		{"empty candidate", "path", []string{""}, ""},
		{"no candidates", "path", nil, ""},
		{"L3 a 60 KB word", "path" + strings.Repeat("x", 60_000), []string{"path"}, ""},
		{"a 60 KB candidate", "path", []string{"path" + strings.Repeat("x", 60_000)}, ""},
		{"invalid UTF-8", "pa\xffth", []string{"path"}, "path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := suggest.Nearest(tc.word, tc.candidates)
			if got != tc.want || ok != (tc.want != "") {
				t.Errorf("Nearest(%.40q) = %q, %t, want %q", tc.word, got, ok, tc.want)
			}
		})
	}
}

func TestNearestN(t *testing.T) {
	names := []string{"write_file", "read_file", "read_files", "read_dir", "read_file", "grep"}
	got := suggest.NearestN("readFile", names, 3)
	if diff := cmp.Diff([]string{"read_file", "read_files"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := suggest.NearestN("readFile", names, 0); got != nil {
		t.Errorf("n of 0 gives %q", got)
	}
	// The answer must not depend on the order of a map's keys.
	a := suggest.NearestN("tag", []string{"tab", "tap", "tar"}, 2)
	b := suggest.NearestN("tag", []string{"tar", "tap", "tab"}, 2)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("order of the candidates matters (-a +b)\n%s", diff)
	}
}

func TestFold(t *testing.T) {
	for _, s := range []string{"file_path", "filePath", "FILE-PATH", "__file_Path"} {
		if got := suggest.Fold(s); got != "filepath" {
			t.Errorf("Fold(%q) = %q", s, got)
		}
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("filePath", "file_path")
	f.Add("\xff\xfe", "İ")
	f.Fuzz(func(t *testing.T, word, candidate string) {
		there, _ := suggest.Nearest(word, []string{candidate})
		back, _ := suggest.Nearest(candidate, []string{word})
		if (there != "") != (back != "") && word != "" && candidate != "" {
			t.Errorf("nearness of %q and %q is not mutual: %q, %q", word, candidate, there, back)
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	candidates := []string{"path", "offset", "limit", "encoding", "line_numbers", "max_bytes"}
	b.ReportAllocs()
	for b.Loop() {
		suggest.Nearest("max_byte_count", candidates)
	}
}
