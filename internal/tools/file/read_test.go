package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/tool"
)

// numbers returns 1 to n, one a line.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// contents puts an answer of read_file back together.
func contents(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, noticeStart) {
			break
		}
		_, after, ok := strings.Cut(line, bar)
		if ok {
			b.WriteString(strings.TrimSuffix(after, "\n") + "\n")
		}
	}
	return b.String()
}

func TestReadRanges(t *testing.T) {
	b := newBench(t, map[string]string{"f": numbers(120), "short": "a\nb", "empty": "", "newline": "\n"})
	for _, tt := range []struct {
		name     string
		args     object
		text     string // "" where only the code counts
		code     tool.Code
		contains string
	}{
		{"whole", object{"path": "short"}, "1│a\n2│b\n[read_file: no line end after the last line]", "", ""},
		{"empty", object{"path": "empty"}, "(the file is empty)", "", ""},
		{"one empty line", object{"path": "newline"}, "1│", "", ""},
		{"a range", object{"path": "f", "start_line": 9, "end_line": 10}, " 9│line 9\n10│line 10\n[read_file: lines 9–10 of 120; continue with {\"path\": \"f\", \"start_line\": 11}]", "", ""},
		{"L4 a limit counts", object{"path": "f", "start_line": 119, "limit": 5}, "119│line 119\n120│line 120\n[read_file: lines 119–120 of 120]", "", ""},
		{"an end past the end", object{"path": "short", "end_line": 99}, "1│a\n2│b\n[read_file: no line end after the last line]", "", ""},
		{"counted from 0", object{"path": "short", "start_line": 0, "limit": 1}, "1│a\n[read_file: lines 1–1 of 2; continue with {\"path\": \"short\", \"start_line\": 2}]", "", ""},
		{"L7 end before start", object{"path": "f", "start_line": 9, "end_line": 3}, "", tool.CodeInvalidInput, "end_line 3 comes before start_line 9"},
		{"L7 start past the end", object{"path": "f", "start_line": 121}, "", tool.CodeInvalidInput, "the file has 120 lines"},
		{"start past the end of nothing", object{"path": "empty", "start_line": 2}, "", tool.CodeInvalidInput, "0 lines"},
		{"both ends", object{"path": "f", "end_line": 3, "limit": 3}, "", tool.CodeInvalidInput, "give one of them"},
		{"limit 0", object{"path": "f", "limit": 0}, "", tool.CodeInvalidInput, "at least 1"},
		{"L1 all at once", object{"path": "f", "start_line": -1, "limit": -1, "byte_offset": -1, "byte_limit": 0}, "", tool.CodeInvalidInput, "byte_limit is 0"},
		{"bytes", object{"path": "f", "byte_offset": 5, "byte_limit": 4}, "1\nli\n[read_file: bytes 5–8 of 972; continue with {\"path\": \"f\", \"byte_offset\": 9}]", "", ""},
		{"bytes past the end", object{"path": "f", "byte_offset": 972}, "", tool.CodeInvalidInput, "past the end"},
		{"bytes and lines", object{"path": "f", "byte_offset": 1, "start_line": 1}, "", tool.CodeInvalidInput, "do not go with"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.read(tt.args)
			if r.Code != tt.code || tt.code == "" && r.Text != tt.text || !strings.Contains(r.Text, tt.contains) {
				t.Errorf("%s: %s", r.Code, r.Text)
			}
		})
	}
	all := b.read(object{"path": "f", "start_line": -1, "limit": -1, "byte_offset": -1, "byte_limit": 0}).Text
	for _, want := range []string{"start_line is -1", "limit is -1", "do not go with", "byte_offset is -1", "byte_limit is 0"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not said in: %s", want, all)
		}
	}
}

var nextCall = regexp.MustCompile(`continue with (\{.*?\})|follow with (\{.*?\})`)

// follow reads on as each footer says until nothing is left, and returns all
// that was shown.
func follow(t *testing.T, b *bench, args object) (all string, calls int) {
	t.Helper()
	for {
		calls++
		r := b.read(args)
		if !r.OK {
			t.Fatalf("call %d: %s", calls, r.Text)
		}
		if len(r.Text) > maxReadBytes+footerRoom {
			t.Fatalf("call %d gave %d bytes", calls, len(r.Text))
		}
		body, notice := r.Text+"\n", ""
		if i := strings.LastIndex(body, noticeStart); i >= 0 {
			body, notice = body[:i], body[i:]
		}
		if strings.Contains(body, bar) {
			all += contents(body)
		} else {
			all += body
		}
		m := nextCall.FindStringSubmatch(notice)
		if m == nil {
			return all, calls
		}
		args = object{}
		if err := json.Unmarshal([]byte(m[1]+m[2]), &args); err != nil {
			t.Fatalf("the next call %q: %v", m[0], err)
		}
	}
}

// TestL45_L55_FollowingTheFooters: the calls that the answers name lead through the
// whole file, of any shape, and in the end all of it was seen.
func TestL45_L55_FollowingTheFooters(t *testing.T) {
	for name, text := range map[string]string{
		"many short lines": numbers(9_000),
		"long lines":       strings.Repeat(strings.Repeat("word ", 900)+"\n", 40),
		"escapes":          strings.Repeat("\u202e\x1b\n", 9_000),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": text})
			got, calls := follow(t, b, object{"path": "f"})
			if name != "escapes" && got != text {
				t.Errorf("%d calls show %d of %d bytes", calls, len(got), len(text))
			}
			if calls < 3 {
				t.Errorf("%d calls; the text is meant to be longer", calls)
			}
			if r := b.rewrite(object{"path": "f", "content": "new\n"}); !r.OK {
				t.Errorf("after reading all of it: %s", r.Text)
			}
		})
	}
}

// TestL44_GiantLine: F036, a line too long for an answer is shown in part
// and paged by bytes, without shell.
func TestL44_GiantLine(t *testing.T) {
	giant := strings.Repeat("0123456789é", 20_000)
	b := newBench(t, map[string]string{"f": "first\n" + giant + "\nlast\n"})
	r := b.read(object{"path": "f"})
	if !strings.Contains(r.Text, "first") || strings.Contains(r.Text, "0123") || !strings.Contains(r.Text, `"start_line": 2}`) {
		t.Errorf("the giant line does not stop the window: %.200s", r.Text)
	}
	r = b.read(object{"path": "f", "start_line": 2})
	if !strings.Contains(r.Text, "line 2 is too long for one answer") || !strings.Contains(r.Text, `the next line with {"path": "f", "start_line": 3}`) {
		t.Errorf("footer: %s", r.Text[strings.LastIndex(r.Text, "\n")+1:])
	}
	if !utf8.ValidString(r.Text) {
		t.Error("F035: a character was cut")
	}
	m := nextCall.FindStringSubmatch(r.Text)
	var next object
	if err := json.Unmarshal([]byte(m[1]+m[2]), &next); err != nil {
		t.Fatal(err)
	}
	first := strings.TrimSuffix(contents(r.Text), "\n")
	rest, calls := follow(t, b, next)
	// Each answer by bytes ends with a line end that is not of the file.
	rest = strings.ReplaceAll(strings.TrimSuffix(rest, "\nlast\n"), "\n", "")
	if first+rest != giant {
		t.Errorf("%d calls show %d of %d bytes", calls, len(first)+len(rest), len(giant))
	}
}

func TestF035_CutOnCharacters(t *testing.T) {
	text := strings.Repeat("a", 1999) + "😀tail"
	b := newBench(t, map[string]string{"f": text + "\n"})
	for limit := 1995; limit < 2010; limit++ {
		r := b.read(object{"path": "f", "byte_offset": 0, "byte_limit": limit})
		if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "\ufffd") || strings.Contains(r.Text, `\x`) {
			t.Errorf("limit %d cuts the character", limit)
		}
	}
	for offset := 1999; offset < 2004; offset++ {
		if r := b.read(object{"path": "f", "byte_offset": offset, "byte_limit": 1}); !r.OK || !strings.Contains(r.Text, "😀") && offset < 2003 {
			t.Errorf("offset %d: %s", offset, r.Text)
		}
	}
}

func TestF045_ContentPassesUnchanged(t *testing.T) {
	for _, text := range []string{"{}", "null", "[]", "</file>", "${x}", "%s %d %!s", "{{.}}", "\\n", "\\u0041", "a\\b", "$& $1", "<|endoftext|>"} {
		b := newBench(t, map[string]string{"f": text + "\n"})
		if r := b.read(object{"path": "f"}); r.Text != "1│"+text {
			t.Errorf("%q is shown as %q", text, r.Text)
		}
	}
	b := newBench(t, map[string]string{"f": "a text with one \x00 byte of zero in it\n"})
	if r := b.read(object{"path": "f"}); !strings.Contains(r.Text, `one \u{0} byte`) {
		t.Errorf("a zero byte: %s", r.Text)
	}
}

func TestF193_InvisibleIsShown(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x = 1 \u202e// y\u202c\n\x1b]52;c;eA==\a\nok\n"})
	r := b.read(object{"path": "f"})
	want := "1│x = 1 \\u{202e}// y\\u{202c}\n2│\\u{1b}]52;c;eA==\\u{7}\n3│ok\n[read_file: 4 invisible or control characters shown as"
	if !strings.HasPrefix(r.Text, want) {
		t.Errorf("%s", r.Text)
	}
	// What was shown can be used to change it.
	if r := b.edit(object{"path": "f", "old_string": `x = 1 \u{202e}// y\u{202c}`, "new_string": "x = 1 // y"}); !r.OK || b.content("f") != "x = 1 // y\n\x1b]52;c;eA==\a\nok\n" {
		t.Errorf("%s: %q", r.Text, b.content("f"))
	}
	if !ReadFile().Spec().Verbatim {
		t.Error("the answer of read_file may be redacted")
	}
}

func TestF009_TabsAreTabs(t *testing.T) {
	b := newBench(t, map[string]string{"f.go": "func f() {\n\treturn\n}\n"})
	if r := b.read(object{"path": "f.go"}); r.Text != "1│func f() {\n2│\treturn\n3│}" {
		t.Errorf("%q", r.Text)
	}
}

// TestF044_NotText: what is not text is named, in one line.
func TestF044_NotText(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.pdf": "%PDF-1.7\n" + strings.Repeat("x", 3<<20), "prog": "\x7fELF\x02\x01\x01\x00", "db": "SQLite format 3\x00",
		"a.png": "hello\n", "real.txt": "\x89PNG\r\n\x1a\n\x00\x00", "utf16.txt": "\xff\xfeh\x00i\x00\n\x00", "zero.png": "",
		"mixed": "\x00\x01\x02\x03\xff\xfe\xfd", "big.bin": strings.Repeat("\x00\x01\xff", 4_000_000),
	})
	for name, want := range map[string]string{
		"a.pdf": "a PDF document whose text cannot be read: the document is damaged", "prog": "an ELF program", "db": "an SQLite database",
		"real.txt": "damaged PNG", "mixed": "binary data", "big.bin": "binary data, 11.4 MiB",
	} {
		r := b.read(object{"path": name})
		if r.OK || !strings.Contains(r.Text, want) || len(r.Text) > 200 || strings.ContainsAny(r.Text, "\x00\x7f") {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	for name, want := range map[string]string{
		"a.png": "1│hello", "zero.png": "(the file is empty)", "utf16.txt": "1│hi\n[read_file: encoding UTF-16LE with a byte order mark]",
	} {
		if r := b.read(object{"path": name}); !r.OK || r.Text != want {
			t.Errorf("F043 %s: %q", name, r.Text)
		}
	}
}

func TestReadSaysWhatIsThere(t *testing.T) {
	b := newBench(t, map[string]string{"src/config.go": "x", "src/config_test.go": "x", "src/README.md": "x", "id_rsa": "x"})
	for name, want := range map[string]string{
		"src/conifg.go":     "near names are src/config.go",
		"src/CONFIG.GO":     "src/config.go",
		"src/readme.txt":    "src/README.md",
		"scr/config.go":     "there is no folder scr, so no file scr/config.go; near names are src",
		"src":               "src is a folder, not a file; list_dir",
		"src/zzzzz":         "list_dir or glob",
		"src/config.go/x":   "a file, not a folder",
		"../outside":        "outside the workspace",
		"id_rsa":            "credentials",
		"id_rsb":            "list_dir or glob", // the near name is none of the model's business
		"src/config.go\x00": "control character",
	} {
		if r := b.read(object{"path": name}); r.OK || !strings.Contains(r.Text, want) {
			t.Errorf("%q: %s", name, r.Text)
		}
	}
}

func TestReadEncodings(t *testing.T) {
	b := newBench(t, map[string]string{
		"crlf": "a\r\nb\r\n", "mixed": "a\r\nb\n", "cr": "a\rb\r", "bom": "\xef\xbb\xbfa\n",
		"sjis":  "\x82\xb1\x82\xea\x82\xcd\x95\xb6\x8e\x9a\x83\x52\x81\x5b\x83\x68\x82\xcc\x94\xbb\x92\xe8\x82\xf0\x8e\x8e\x82\xb7\n",
		"guess": "// \xa9 Example\n",
	})
	for name, want := range map[string]string{
		"crlf": "1│a\n2│b\n[read_file: lines end with CRLF]", "mixed": "1│a\n2│b\n[read_file: some lines end with LF, some with CRLF]",
		"cr": "1│a\n2│b\n[read_file: lines end with CR]", "bom": "1│a\n[read_file: UTF-8 with a byte order mark]",
		"sjis": "1│これは文字コードの判定を試す\n[read_file: encoding Shift_JIS]",
	} {
		if r := b.read(object{"path": name}); r.Text != want {
			t.Errorf("%s: %q", name, r.Text)
		}
	}
	if r := b.read(object{"path": "guess"}); !strings.Contains(r.Text, "1│// © Example") || !strings.Contains(r.Text, "is a guess") {
		t.Errorf("guess: %s", r.Text)
	}
	if r := b.read(object{"path": "guess", "encoding": "windows-1252"}); !strings.HasSuffix(r.Text, "[read_file: encoding windows-1252]") {
		t.Errorf("named: %s", r.Text)
	}
	if r := b.read(object{"path": "guess", "encoding": "klingon"}); r.Code != tool.CodeInvalidInput {
		t.Errorf("klingon: %s", r.Text)
	}
	if r := b.read(object{"path": "guess", "encoding": "utf-16"}); r.OK {
		t.Errorf("not UTF-16: %s", r.Text)
	}
}

// TestStream reads windows of a file that is never held in memory.
func TestStream(t *testing.T) {
	line := strings.Repeat("x", 90)
	var text strings.Builder
	for i := range 130_000 {
		fmt.Fprintf(&text, "%06d %s\r\n", i+1, line)
	}
	giant := strings.Repeat("0123456789", 60_000)
	text.WriteString(giant + "\nend")
	b := newBench(t, map[string]string{"big": text.String()})
	r := b.read(object{"path": "big"})
	if !strings.HasPrefix(r.Text, "   1│000001 "+line+"\n") || !strings.Contains(r.Text, `of a file of 12.8 MiB; continue with {"path": "big", "start_line": `) {
		t.Errorf("%.120s … %s", r.Text, r.Text[len(r.Text)-150:])
	}
	if r := b.read(object{"path": "big", "start_line": 100_000, "limit": 2}); r.Text[:len("100000│100000 xxx")] != "100000│100000 xxx" || !strings.Contains(r.Text, "lines 100000–100001 of") {
		t.Errorf("%.200s", r.Text)
	}
	r = b.read(object{"path": "big", "start_line": 130_001})
	if !strings.Contains(r.Text, "130001│0123456789") || !strings.Contains(r.Text, "line 130001 is too long") {
		t.Errorf("%.60s … %s", r.Text, r.Text[len(r.Text)-200:])
	}
	var next object
	m := nextCall.FindStringSubmatch(r.Text)
	if err := json.Unmarshal([]byte(m[1]+m[2]), &next); err != nil {
		t.Fatal(err)
	}
	first := strings.TrimSuffix(contents(r.Text), "\n")
	rest, _ := follow(t, b, next)
	if rest = strings.ReplaceAll(strings.TrimSuffix(rest, "\nend\n"), "\n", ""); first+rest != giant {
		t.Errorf("the giant line has %d bytes, %d were shown", len(giant), len(first)+len(rest))
	}
	if r := b.read(object{"path": "big", "start_line": 130_002}); r.Text != "130002│end\n[read_file: lines 130002–130002 of 130002]" {
		t.Errorf("%q", r.Text)
	}
	if r := b.read(object{"path": "big", "start_line": 130_003}); r.Code != tool.CodeInvalidInput || !strings.Contains(r.Text, "130002 lines") {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
	if r := b.read(object{"path": "big", "byte_offset": 1 << 40}); r.Code != tool.CodeInvalidInput {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
	if r := b.rewrite(object{"path": "big", "content": "x"}); r.Code != tool.CodeDenied {
		t.Errorf("a file that nobody has seen whole: %s %s", r.Code, r.Text)
	}
	ctx, cancel := context.WithCancel(b.around(context.Background()))
	cancel()
	_, err := ReadFile().Run(ctx, &tool.Call{Args: json.RawMessage(`{"path":"big","start_line":100000}`)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}
