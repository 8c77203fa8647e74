package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

func TestParseKeepsTheWriting(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"order of keys", ` { "b" : 1 , "a" : [ true , null ] } `, `{"b":1,"a":[true,null]}`},
		{"F178 big integers", `[9007199254740993,-9223372036854775808,18446744073709551616]`, ""},
		{"number text", `[1.50,3.0,3e0,1E+2,-0,0.0]`, ""},
		{"escapes", `["\u00e9\n\/\ud83d\ude00","é😀"]`, ""},
		{"escaped key is written plainly", `{"\u0061":1}`, `{"a":1}`},
		{"key that needs escapes", `{"a\"\n\\\u0001":1}`, ""},
		{"empty", `[{},[],""]`, ""},
		{"replacement character", `["\ufffd","\uFFFD","` + "\ufffd" + `"]`, ""},
		{"deepest", strings.Repeat("[", 128) + strings.Repeat("]", 128), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, err := jsondoc.Parse(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			want := tc.want
			if want == "" {
				want = tc.in
			}
			if got := string(n.JSON()); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			c := n.Clone()
			if diff := cmp.Diff(string(c.JSON()), want); diff != "" {
				t.Errorf("a clone differs: %s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 129)
	for _, tc := range []struct{ name, in, msg string }{
		{"key twice", `{"a":1,"b":2,"a":3}`, `the key "a" is given twice`},
		{"key twice, once escaped", `{"a":1,"\u0061":3}`, `the key "a" is given twice`},
		{"key twice among many", `{` + manyKeys(40) + `,"k3":1}`, `the key "k3" is given twice`},
		{"too deep", deep + strings.Repeat("]", 129), "deeper than 128"},
		{"100000 openings", strings.Repeat("[", 100_000), "deeper than 128"},
		{"100000 openings of objects", strings.Repeat(`{"":`, 100_000), "deeper than 128"},
		{"invalid UTF-8", "[\"a\xffb\"]", "not valid UTF-8"},
		{"invalid UTF-8 at the end", "[1]\xff", "not valid UTF-8"},
		{"character cut after the end", "[1]\xe2\x82", "not valid UTF-8"},
		{"overlong", "[\"\xc0\xaf\"]", "not valid UTF-8"},
		{"encoded surrogate", "[\"\xed\xa0\x80\"]", "not valid UTF-8"},
		{"UTF-16", "\xff\xfe[\x00]\x00", "not valid UTF-8"},
		{"latin 1", "[\"\xe9\"]", "not valid UTF-8"},
		{"first half alone", `["\ud83d"]`, "half of a surrogate pair"},
		{"second half alone", `["\ude00"]`, "half of a surrogate pair"},
		{"halves apart", `["\ud83d x \ude00"]`, "half of a surrogate pair"},
		{"two first halves", `["\ud83d\ud83d"]`, "half of a surrogate pair"},
		{"half in a key", `{"\ud83d":1}`, "half of a surrogate pair"},
		{"more text", `{"a":1}{"b":2}`, "more text after the end"},
		{"byte order mark", "\ufeff{}", "byte order mark"},
		{"raw line break", "[\"a\nb\"]", `write it as "\n"`},
		{"bad escape", `["C:\dir"]`, `write a backslash as \\`},
		{"bad unicode escape", `["\u12G4"]`, "four hexadecimal digits"},
		{"escape of a long character", `["\é"]`, `"\\é" is no escape`},
		{"single quotes", `{'a':1}`, "key in double quotes"},
		{"single quoted value", `['a']`, "a string stands in double quotes"},
		{"bare word", `[yes]`, "a text stands in double quotes"},
		{"Python", `[True]`, "lower case"},
		{"None", `[None]`, "write null"},
		{"NaN", `[NaN]`, "no such number"},
		{"comment", `[1, // one` + "\n]", "no comments"},
		{"plus", `[+1]`, "begins with a digit or a minus"},
		{"leading zero", `[01]`, "no JSON number"},
		{"hex", `[0x10]`, "no JSON number"},
		{"point at the end", `[1.]`, "no JSON number"},
		{"minus alone", `[-]`, "no JSON number"},
		{"huge exponent", `[1e999]`, "out of range"},
		{"a million digits of exponent", `[1e` + strings.Repeat("9", 1_000_000) + `]`, "out of range"},
		{"tiny exponent", `[1e-999999999]`, "out of range"},
		{"too many digits", `[` + strings.Repeat("9", 400) + `]`, "out of range"},
		{"trailing comma", `[1,]`, `a comma before "]"`},
		{"two trailing commas", `[1,,]`, "a value is missing"},
		{"missing colon", `{"a" 1}`, "colon"},
		{"missing comma", `[1 2]`, `"," or "]"`},
		{"wrong bracket", `[1}`, `"," or "]"`},
		{"nothing before the bracket", `]`, "a value is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, err := jsondoc.Parse(tc.in)
			var se *jsondoc.SyntaxError
			if !errors.As(err, &se) {
				t.Fatalf("it is read as %.80s", n.JSON())
			}
			if se.CutOff || !strings.Contains(se.Msg, tc.msg) {
				t.Errorf("error is %+v, want one about %q", se, tc.msg)
			}
			if len(se.Msg) > 300 {
				t.Errorf("the message has %d bytes", len(se.Msg))
			}
		})
	}
}

func manyKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, `"k`+string(rune('0'+i))+`":0`)
	}
	return strings.Join(keys, ",")
}

// TestF172_EveryCutIsNoticed cuts a text at every byte: each piece must be
// seen as cut off, never as wrong and never as whole.
func TestF172_EveryCutIsNoticed(t *testing.T) {
	const whole = `{"path":"a.py","content":"l1\nl2 \u00e9 \ud83d\ude00 é 😀","n":[-1.5e+3,true,null,{"x":false}]}`
	for i := 1; i < len(whole); i++ {
		_, err := jsondoc.Parse(whole[:i])
		var se *jsondoc.SyntaxError
		if !errors.As(err, &se) || !se.CutOff || se.Offset != i {
			t.Errorf("cut after %q: error is %+v", whole[max(0, i-12):i], se)
		}
		if _, _, err := jsondoc.ParseTrailingCommas(whole[:i]); err == nil {
			t.Errorf("cut after %q is repaired", whole[max(0, i-12):i])
		}
	}
}

func TestSyntaxErrorPath(t *testing.T) {
	for in, want := range map[string][]jsondoc.Step{
		`{"a":{"b":[1,"x`: {{Key: "a"}, {Key: "b"}, {Index: 1, Item: true}},
		`{"a":1,"b":`:     {{Key: "b"}},
		`{"a":[`:          {{Key: "a"}, {Item: true}},
		`{"a":1`:          nil,
	} {
		_, err := jsondoc.Parse(in)
		var se *jsondoc.SyntaxError
		if !errors.As(err, &se) {
			t.Fatalf("%s is read", in)
		}
		if diff := cmp.Diff(want, se.Path); diff != "" {
			t.Errorf("%s (-want +got)\n%s", in, diff)
		}
	}
}

func TestParseTrailingCommas(t *testing.T) {
	n, commas, err := jsondoc.ParseTrailingCommas(`{"a":[1,2, ],"b":{"c":1,},}`)
	if err != nil || commas != 3 || string(n.JSON()) != `{"a":[1,2],"b":{"c":1}}` {
		t.Errorf("got %s, %d commas, error %v", n.JSON(), commas, err)
	}
	for _, in := range []string{`[,]`, `{,}`, `[1,,]`, `[1,],`, `,`, `[1,}`, `{"a":,}`} {
		if n, _, err := jsondoc.ParseTrailingCommas(in); err == nil {
			t.Errorf("%s is read as %s", in, n.JSON())
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, tc := range []struct {
		in      string
		kind    jsondoc.Kinds
		integer string
	}{
		{"3", jsondoc.Integer, "3"},
		{"3.0", jsondoc.Integer, "3"},
		{"3e0", jsondoc.Integer, "3"},
		{"3E+2", jsondoc.Integer, "300"},
		{"1.5e1", jsondoc.Integer, "15"},
		{"100e-2", jsondoc.Integer, "1"},
		{"-0.0", jsondoc.Integer, "0"},
		{"-20.00", jsondoc.Integer, "-20"},
		{"0e400", jsondoc.Integer, "0"},
		{"9007199254740993.0", jsondoc.Integer, "9007199254740993"},
		{"3.5", jsondoc.Fraction, ""},
		{"1e-1", jsondoc.Fraction, ""},
		{"9007199254740993.5", jsondoc.Fraction, ""},
	} {
		n, ok := jsondoc.ParseNumber(tc.in)
		if !ok || n.Kind != tc.kind || n.Raw != tc.in {
			t.Errorf("%s is read as %+v, %t", tc.in, n, ok)
			continue
		}
		whole, ok := n.Integer()
		if whole.Raw != tc.integer || ok != (tc.integer != "") {
			t.Errorf("%s as an integer is %q, want %q", tc.in, whole.Raw, tc.integer)
		}
		if ok && !whole.PlainInteger() {
			t.Errorf("%s as an integer is not plain", tc.in)
		}
	}
	for _, in := range []string{"", " ", "3px", "1e999", "0x10", "+1", "01", "1.", ".5", "--1", "1e", "NaN", "3 ", " 3", "1_000"} {
		if n, ok := jsondoc.ParseNumber(in); ok {
			t.Errorf("F165 %q is read as %+v", in, n)
		}
	}
}

func TestCanonical(t *testing.T) {
	same := [][2]string{
		{`1`, `1.0`}, {`100`, `1e2`}, {`0`, `-0.0`}, {`"\u0061"`, `"a"`},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1e0}`},
	}
	for _, pair := range same {
		if a, b := mustParse(t, pair[0]), mustParse(t, pair[1]); a.Canonical() != b.Canonical() {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{`1`, `"1"`}, {`1`, `true`}, {`1`, `-1`}, {`1`, `10`}, {`[]`, `{}`}, {`[1,2]`, `[12]`}, {`[1,2]`, `[2,1]`},
		{`{"a":"b"}`, `{"b":"a"}`}, {`["a,b"]`, `["a","b"]`}, {`null`, `"null"`}, {`0.1`, `0.01`},
		{`9007199254740993`, `9007199254740992`},
	} {
		if a, b := mustParse(t, pair[0]), mustParse(t, pair[1]); a.Canonical() == b.Canonical() {
			t.Errorf("%s and %s are held equal", pair[0], pair[1])
		}
	}
}

func TestNewString(t *testing.T) {
	for _, text := range []string{"", "plain", "a\"b\\c\n\t\r\x00\x1f", "é😀"} {
		n := jsondoc.NewString(text)
		var back string
		if err := json.Unmarshal(n.JSON(), &back); err != nil || back != text || n.Text() != text {
			t.Errorf("%q is written as %s and read as %q (%v)", text, n.JSON(), n.Text(), err)
		}
	}
}

func TestKindNames(t *testing.T) {
	for kinds, want := range map[jsondoc.Kinds]string{
		jsondoc.Integer:                 "integer",
		jsondoc.Number:                  "number",
		jsondoc.String | jsondoc.Null:   "string or null",
		jsondoc.Array | jsondoc.Integer: "integer or array",
		0:                               "",
		jsondoc.Fraction | jsondoc.Bool: "number or boolean",
	} {
		if got := kinds.String(); got != want {
			t.Errorf("%b is %q, want %q", kinds, got, want)
		}
	}
}

func mustParse(t *testing.T, in string) *jsondoc.Node {
	t.Helper()
	n, err := jsondoc.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

// FuzzParse holds the parser against encoding/json: what it reads, that
// reads too and to the same value; what it refuses and that takes is refused
// for a reason of the package's own.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `{"a":1,"a":2}`, `["\ud83d"]`, `[1,]`, "\"\xff\"", `"\u12`, `{"a":"b`, `-`, `[1e999]`,
	} {
		f.Add(seed)
	}
	own := []string{"given twice", "surrogate", "out of range", "deeper", "UTF-8"}
	f.Fuzz(func(t *testing.T, in string) {
		n, err := jsondoc.Parse(in)
		if err != nil {
			if !json.Valid([]byte(in)) {
				return
			}
			for _, reason := range own {
				if strings.Contains(err.Error(), reason) {
					return
				}
			}
			t.Fatalf("%q is refused: %v", in, err)
		}
		want, got := decode(t, []byte(in)), decode(t, n.JSON())
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%q is written as %s", in, n.JSON())
		}
		if again, err := jsondoc.Parse(string(n.JSON())); err != nil || again.Canonical() != n.Canonical() {
			t.Fatalf("%q does not survive a second reading: %v", in, err)
		}
	})
}

func decode(t *testing.T, in []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", in, err)
	}
	return v
}

const sixFields = `{"path":"/a/b","offset":0,"limit":10,"mode":"text","tags":["x","y"],"opts":{"follow":true}}`

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsondoc.Parse(sixFields); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseOneMegabyte(b *testing.B) {
	in := `{"content":"` + strings.Repeat(`a line of text\n`, 1<<16) + `"}`
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsondoc.Parse(in); err != nil {
			b.Fatal(err)
		}
	}
}
