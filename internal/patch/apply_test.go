package patch

import (
	"errors"
	"strings"
	"testing"
)

const twoBodies = "fn a(){\n    x\n}\nfn b(){\n    x\n}\n"

// TestEnvelope applies hunks of an envelope.
func TestEnvelope(t *testing.T) {
	for _, tt := range []struct{ name, content, hunks, want string }{
		{"replace", "a\nb\nc\n", "@@\n-b\n+B\n", "a\nB\nc\n"},
		{"two hunks", "a\nb\nc\nd\n", "@@\n-b\n+B\n@@\n-d\n+D\n", "a\nB\nc\nD\n"},
		{"no @@ line", "a\nb\n", " a\n-b\n+c\n", "a\nc\n"},
		{"F029 only removed lines", "a\nb\nc\n", "@@\n a\n-b\n c\n", "a\nc\n"},
		{"a line that goes twice", "a\nx\nb\nx\n", "@@\n-x\n+1\n@@\n-x\n+2\n", "a\n1\nb\n2\n"},
		{"end of file", "x\na\nx\n", "@@\n-x\n+y\n*** End of File\n", "x\na\ny\n"},
		{"added at the end of the file", "a\nb\n", "@@\n+c\n+d\n", "a\nb\nc\nd\n"},
		{"added to an empty file", "", "@@\n+c\n", "c\n"},
		{"added after a last line without end", "a\nb", "@@\n+c\n", "a\nb\nc\n"},
		{"replaced and added after a last line without end", "a\nb", "@@\n-b\n+B\n@@\n+c\n", "a\nB\nc\n"},
		{"added below its context", "a\nmark\nb\n", "@@ mark\n+c\n", "a\nmark\nc\nb\n"},
		{"a last line without end gains one", "no end", "@@\n-no end\n+one\n+two\n", "one\ntwo\n"},
		{"an untouched last line keeps its form", "a\nb\nno end", "@@\n-a\n+A\n", "A\nb\nno end"},
		{"F011 the line after @@ chooses", twoBodies, "@@ fn b(){\n-    x\n+    y\n", strings.Replace(twoBodies, "b(){\n    x", "b(){\n    y", 1)},
		{"F011 the beginning of a line after @@", twoBodies, "@@ fn a()\n-    x\n+    y\n", strings.Replace(twoBodies, "x", "y", 1)},
		{"F011 a section of settings", "[a]\nk = 1\n[b]\nk = 1\n[c]\nk = 1\n", "@@ [b]\n-k = 1\n+k = 2\n", "[a]\nk = 1\n[b]\nk = 2\n[c]\nk = 1\n"},
		{"nested contexts", "class A:\n  def f(self):\n    x\nclass B:\n  def f(self):\n    x\n", "@@ class B:\n@@   def f(self):\n-    x\n+    y\n", "class A:\n  def f(self):\n    x\nclass B:\n  def f(self):\n    y\n"},
		{"the one place below a context that does not head it", "fn a(){\n#if 0\n    x\n#endif\n}\n", "@@ fn a(){\n-    x\n+    y\n", "fn a(){\n#if 0\n    y\n#endif\n}\n"},
		{"the context is quoted again", twoBodies, "@@ fn b(){\n fn b(){\n-    x\n+    y\n", strings.Replace(twoBodies, "b(){\n    x", "b(){\n    y", 1)},
		{"two hunks under one context", "fn a(){\n  x\n  y\n}\nfn b(){\n  x\n  y\n}\n", "@@ fn b(){\n-  x\n+  1\n@@ fn b(){\n-  y\n+  2\n", "fn a(){\n  x\n  y\n}\nfn b(){\n  1\n  2\n}\n"},
		{"an exact place further on is not better than one inside", "fn b(){\n    x  \n}\nfn c(){\n    x\n}\n", "@@ fn b(){\n-    x\n+    y\n", "fn b(){\n    y\n}\nfn c(){\n    x\n}\n"},
		{"ranges of git", "a\nb\n", "@@ -1,2 +1,2 @@ whatever\n a\n-b\n+c\n", "a\nc\n"},
		{"empty context without its blank", "a\n\nb\n", "@@\n a\n\n-b\n+c\n", "a\n\nc\n"},
		{"an empty line at the end is layout", "a\nb\n", "@@\n-a\n+c\n\n", "c\nb\n"},
		{"context that begins with a tab and lost its blank", "\ta\nb\n", "@@\n\ta\n-b\n+c\n", "\ta\nc\n"},
		{"F021 a file that holds control lines", "*** Begin Patch\n*** End Patch\n@@ x\n*** End of File\n", "@@\n *** Begin Patch\n-*** End Patch\n+*** Add File: x\n @@ x\n *** End of File\n", "*** Begin Patch\n*** Add File: x\n@@ x\n*** End of File\n"},
		{"an indented header is context", "  *** Add File: x\nb\n", "@@\n   *** Add File: x\n-b\n+c\n", "  *** Add File: x\nc\n"},
		{"CRLF", "one\r\ntwo\r\nthree\r\n", "@@\n-one\n+ONE\n two\n+between\n three\n", "ONE\r\ntwo\r\nbetween\r\nthree\r\n"},
		{"CRLF in the patch", "one\ntwo\n", "@@\r\n-one\r\n+ONE\r\n", "ONE\ntwo\n"},
		{"lines that end in CR among others", "one\r\ntwo\rthree\r\nfour\r\n", "@@\n one\n two\n-three\n+THREE\n four\n", "one\r\ntwo\rTHREE\r\nfour\r\n"},
		{"CR alone", "a\rb\rc\r", "@@\n-b\n+B\n+C\n", "a\rB\rC\rc\r"},
		{"a carriage return inside a line", "a\rb\nc\n", "@@\n a\rb\n-c\n+d\n", "a\rb\nd\n"},
		{"trailing blanks", "a  \nb\n", "@@\n a\n-b\n+c\n", "a  \nc\n"},
		{"F003 context keeps the form of the file", "struct S {\r\n\tloading: bool, \r\n\tx: u8,\r\n}\r\n", "@@\n struct S {\n-    loading: bool,\n+    busy: bool,\n     x: u8,\n }\n", "struct S {\r\n\tbusy: bool,\r\n\tx: u8,\r\n}\r\n"},
		{"indentation of the place", "\tif x {\n\t\ta()\n\t}\n", "@@\n if x {\n-  a()\n+  b()\n+  c()\n }\n", "\tif x {\n\t\tb()\n\t\tc()\n\t}\n"},
		{"typographic characters", "say “hi” – now\nb\n", "@@\n say \"hi\" - now\n-b\n+‘c’\n", "say “hi” – now\n‘c’\n"},
		{"a later exact place beats an earlier loose one", "  x\na\nx\n", "@@\n-x\n+y\n", "  x\na\ny\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := run(tt.content, inEnvelope(tt.hunks), Options{})
			if err != nil || got != tt.want {
				t.Errorf("got %q, want %q (%v)", got, tt.want, err)
			}
		})
	}
}

// TestEnvelopeRefuses: what does not fit, or fits more than one place, says
// where and why.
func TestEnvelopeRefuses(t *testing.T) {
	for _, tt := range []struct{ name, content, hunks, want string }{
		{"F010 two places without their indentation", "def a():\n    flush()\n    return None\ndef b():\n  flush()\n  return None\n", "@@\n-flush()\n return None\n", "fits 2 places (none of them exactly): lines 2, 5"},
		{"F026 two places", "f() {\n  return nil\n}\ng() {\n  return nil\n}\n", "@@\n-  return nil\n+  return err\n", "fits 2 places: lines 2, 5"},
		{"two places inside the context", "fn b(){\n  x\n  a\n  x\n}\n", "@@ fn b(){\n-  x\n+  y\n", "fits 2 places: lines 2, 4"},
		{"two contexts", twoBodies + twoBodies, "@@ fn b(){\n+  y\n", "fits 2 places"},
		{"not there", "alpha beta\ngamma\n", "@@\n-alpha bete\n+x\n", `the nearest place is line 1, and the first difference is in line 1: the file has "alpha beta", the patch "alpha bete"`},
		{"no such context", "alpha\n", "@@ fn nowhere()\n-alpha\n+x\n", `"fn nowhere()" after @@ is not in the file`},
		{"above its context", "x\nfn b()\n", "@@ fn b()\n-x\n+y\n", "at line 1, which is not in what"},
		{"out of order", "first line\nsecond line\n", "@@\n-second line\n+2\n@@\n-first line\n+1\n", "hunks come in the order of the file"},
		{"overlapping at the end of the file", "a\nb\n", "@@\n-b\n+c\n*** End of File\n@@\n-b\n+d\n*** End of File\n", "hunk 2 of 2"},
		{"not at the end of the file", "only once\na\n", "@@\n-only once\n+y\n*** End of File\n", "must be at the end of the file, which has 2 lines"},
		{"longer than the file", "a\n", "@@\n a\n b\n c\n-d\n", "are not in the file"},
		{"F022 applied already", "a\nthe new line\nb\n", "@@\n a\n-the old line\n+the new line\n b\n", "already applied"},
		{"F022 applied already, and the next function is alike", "fn a(){\n    y\n}\nfn b(){\n    x\n}\n", "@@ fn a(){\n-    x\n+    y\n", "already applied: f has the new lines of every hunk (at line 2)"},
		{"F022 applied already, and another place is alike", "the new line\n  the old line\n", "@@\n-the old line\n+the new line\n", "already applied"},
		{"F022 removed already, and the next function is alike", "fn a(){\n}\nfn b(){\n    x\n}\n", "@@ fn a(){\n-    x\n", "at line 4, which is not in what \"fn a(){\" heads"},
		{"F022 added already", "a\nthe new line\nb\n", "@@\n a\n+the new line\n", "already applied"},
		{"one of two is there already", "a\nthe new line\nb\nc\n", "@@\n-the old line\n+the new line\n@@\n-c\n+d\n", "its new lines are at line 2 already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := run(tt.content, inEnvelope(tt.hunks), Options{})
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, error %v, want %q", got, err, tt.want)
			} else if mismatch.Applied != strings.HasPrefix(tt.want, "already applied") {
				t.Errorf("applied: %v", mismatch.Applied)
			}
		})
	}
}

// TestUnified applies unified diffs as models write them.
func TestUnified(t *testing.T) {
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	const head = "--- a/f\n+++ b/f\n"
	for _, tt := range []struct{ name, content, diff, want string }{
		{"well-formed", ten, head + "@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"wrong counts", ten, head + "@@ -4,9 +4,2 @@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"wrong counts before another hunk", ten, head + "@@ -1,1 +1,1 @@\n 1\n-2\n+two\n@@ -4,99 +4,1 @@\n 4\n-5\n+five\n 6\n", "1\ntwo\n3\n4\nfive\n6\n7\n8\n9\n10\n"},
		{"wrong number", ten, head + "@@ -400,3 +400,3 @@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"no counts", ten, head + "@@ -4 +4 @@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"dots", ten, head + "@@ ... @@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"bare @@", ten, head + "@@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"empty @@ @@", ten, head + "@@ @@\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"no closing @@", ten, head + "@@ -4,3 +4,3\n 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"no @@ line at all", ten, head + " 4\n-5\n+five\n 6\n", strings.Replace(ten, "5", "five", 1)},
		{"hunks out of order", ten, head + "@@ -8,1 +8,1 @@\n-8\n+eight\n@@ -2,1 +2,1 @@\n-2\n+two\n", "1\ntwo\n3\n4\n5\n6\n7\neight\n9\n10\n"},
		{"fuzz: a context line that is not there", "one\nsomething\nanother line\nfour\n", head + "@@ -1,4 +1,4 @@\n ONE\n something\n-another line\n+changed\n FOUR\n", "one\nsomething\nchanged\nfour\n"},
		{"the number chooses", "x\na\nb\nc\nx\n", head + "@@ -5 +5 @@\n-x\n+y\n", "x\na\nb\nc\ny\n"},
		{"the number chooses the nearest", "x\n" + strings.Repeat("-\n", 30) + "x\n", head + "@@ -28 +28 @@\n-x\n+y\n", "x\n" + strings.Repeat("-\n", 30) + "y\n"},
		{"the heading chooses", twoBodies, head + "@@ ... @@ fn b(){\n-    x\n+    y\n", strings.Replace(twoBodies, "b(){\n    x", "b(){\n    y", 1)},
		{"a heading that is not there", ten, head + "@@ -5 +5 @@ func gone()\n-5\n+five\n", strings.Replace(ten, "5", "five", 1)},
		{"no newline before, newline after", "a\nb", head + "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nc\n"},
		{"newline before, none after", "a\nb\n", head + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n", "a\nc"},
		{"only the newline goes", "a\nb\n", head + "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		{"only the newline comes", "a\nb", head + "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"},
		{"none before and after", "a\nb", head + "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "A\nb"},
		{"no mark, and the file has no newline", "a\nb", head + "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc"},
		{"F021 removed lines that look like names", "-- x\nb\n", head + "@@ -1,2 +1,2 @@\n--- x\n+++ y\n b\n", "++ y\nb\n"},
		{"CRLF in the diff and in the file", "a\r\nb\r\n", strings.ReplaceAll(head+"@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "\n", "\r\n"), "a\r\nc\r\n"},
		{"empty context lines without blank", "a\n\nb\n\nc\n", head + "@@ -1,5 +1,5 @@\n a\n\n-b\n+B\n\n c\n", "a\n\nB\n\nc\n"},
		{"timestamps", ten, "--- f\t2024-01-02 03:04:05.000000000 +0100\n+++ f\t2024-01-02 03:04:06.000000000 +0100\n@@ -5 +5 @@\n-5\n+five\n", strings.Replace(ten, "5", "five", 1)},
		{"an empty file", "", head + "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"},
		{"lines after the last", "a\nb\n", head + "@@ -2,0 +3 @@\n+c\n", "a\nb\nc\n"},
		{"in a fence", ten, "```diff\n" + head + "@@ -5 +5 @@\n-5\n+five\n```\n", strings.Replace(ten, "5", "five", 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := run(tt.content, tt.diff, Options{})
			if err != nil || got != tt.want {
				t.Errorf("got %q, want %q (%v)", got, tt.want, err)
			}
			if p, err := Parse(tt.diff, Options{}); err == nil && p.Files[0].Path != "f" {
				t.Errorf("path %q", p.Files[0].Path)
			}
			if strings.HasPrefix(tt.diff, head) {
				if got, _, err = run(tt.content, strings.TrimPrefix(tt.diff, head), Options{Path: "f"}); err != nil || got != tt.want {
					t.Errorf("without header: got %q, want %q (%v)", got, tt.want, err)
				}
			}
		})
	}
}

// TestUnifiedRefuses: a diff that could mean two places means none.
func TestUnifiedRefuses(t *testing.T) {
	const head = "--- a/f\n+++ b/f\n"
	for _, tt := range []struct{ name, content, diff, want string }{
		{"as near to one as to the other", "x\na\nb\na\nx\n", head + "@@ -3 +3 @@\n-x\n+y\n", "fits 2 places: lines 1, 5. The stated line 3 does not decide"},
		{"rather nearer is not enough", "x\na\nb\na\na\na\nx\n", head + "@@ -3 +3 @@\n-x\n+y\n", "fits 2 places"},
		{"no number", "x\na\nx\n", head + "@@\n-x\n+y\n", "fits 2 places"},
		{"a removed line is never left out", "a\nb\nc\n", head + "@@ -1,3 +1,2 @@\n a\n-gone\n c\n", "are not in the file"},
		{"only a bracket is left", "one\ntwo\n}\nthree\n", head + "@@ -1,4 +1,5 @@\n alpha\n beta\n }\n+new\n gamma\n delta\n", "are not in the file"},
		{"no context at all", "a\nb\nc\n", head + "@@ -2,0 +3 @@\n+x\n", "a number alone could be wrong"},
		{"not empty", "a\n", head + "@@ -0,0 +1 @@\n+x\n", "a number alone"},
		{"the remark about the end, elsewhere", "only once\nb\n", head + "@@ -1 +1 @@\n-only once\n\\ No newline at end of file\n+x\n", "must be at the end of the file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _, err := run(tt.content, tt.diff, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}
