package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFramesAreReadAsTheyAreWritten(t *testing.T) {
	const tail = `,"method":"ping"}`
	for text, want := range map[string]frame{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                        {id: []byte("1"), method: "ping"},
		" {\t\"id\" : \"a\\\"}\" ,\"params\":{\"a\":[1,{}]} , \"jsonrpc\":\"2.0\"" + tail: {id: []byte(`"a\"}"`), method: "ping", params: []byte(`{"a":[1,{}]}`)},
		`{"jsonrpc":"2.0","method":"no\u0074ify","params":null}`:                          {method: "notify", params: []byte("null")},
		`{"jsonrpc":"2.0","meth\u006fd":"x","Method":"y","ID":2,"PARAMS":[]}`:             {method: "x"},
		`{"jsonrpc":"2.0","id":-1e5,"method":"x","extra":1,"extra":"\\"}`:                 {id: []byte("-1e5"), method: "x"},
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                                            {id: []byte("1")},
		`{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"method"}}`:                {id: []byte(`"x"`)},
	} {
		f, no := readFrame([]byte(text))
		if no != nil || string(f.id) != string(want.id) || f.method != want.method || string(f.params) != string(want.params) {
			t.Errorf("%s: %s %q %s, %+v", text, f.id, f.method, f.params, no)
		}
	}
}

func TestFramesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		text, id string
		code     int64
	}{
		"nothing":              {"", "", -32700},
		"a NUL":                {"\x00" + `{"jsonrpc":"2.0"}`, "", -32700},
		"a NUL in a text":      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\x00\"}", "", -32700},
		"UTF-16":               {"{\x00\"\x00i\x00d\x00\"\x00:\x001\x00}\x00", "", -32700},
		"UTF-16 with a mark":   {"\xff\xfe{\x00}\x00", "", -32700},
		"a cut character":      {"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\",\"method\":\"a\"}", "", -32700},
		"a surrogate as bytes": {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}", "", -32700},
		"deep":                 {`{"params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", "", -32700},
		"two values":           {`{} {}`, "", -32700},
		"a batch":              {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "", -32600},
		"a text":               {`"ping"`, "", -32600},
		"no version":           {`{"id":1,"method":"ping"}`, "1", -32600},
		"version 1.0":          {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
		"version as number":    {`{"jsonrpc":2.0,"id":1,"method":"ping"}`, "1", -32600},
		"id twice":             {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "", -32600},
		"method twice":         {`{"jsonrpc":"2.0","id":1,"method":"ping","meth\u006fd":"tools/call"}`, "", -32600},
		"params twice":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}`, "", -32600},
		"id null":              {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "", -32600},
		"id true":              {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "", -32600},
		"id {}":                {`{"jsonrpc":"2.0","id":{"id":1},"method":"ping"}`, "", -32600},
		"a long id":            {`{"jsonrpc":"2.0","id":"` + strings.Repeat("i", maxID) + `","method":"ping"}`, "", -32600},
		"method null":          {`{"jsonrpc":"2.0","id":1,"method":null}`, "1", -32600},
		"method of many":       {`{"jsonrpc":"2.0","id":1,"method":["ping"]}`, "1", -32600},
		"method empty":         {`{"jsonrpc":"2.0","id":1,"method":""}`, "1", -32600},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, "1", -32600},
	} {
		_, no := readFrame([]byte(c.text))
		if no == nil || no.code != c.code || string(no.id) != c.id || no.text == "" || no.answer {
			t.Errorf("%s: %+v", name, no)
		}
	}
	for _, text := range []string{`{"jsonrpc":"2.0","id":null,"error":{}}`, `{"jsonrpc":"2.0","result":{}}`, `{"id":[],"result":{}}`} {
		if _, no := readFrame([]byte(text)); no == nil || !no.answer {
			t.Errorf("%s would be refused by an answer: %+v", text, no)
		}
	}
}

func TestIdsThatComeBackAsTheyWere(t *testing.T) {
	for id, want := range map[string]bool{
		"": true, `"x"`: true, "0": true, "-7": true, "9007199254740992": true,
		"9007199254740993": false, "1.5": false, "1.0": false, "1e2": false, "1e400": false, "-9223372036854775808": false, "99999999999999999999": false,
	} {
		if idExact([]byte(id)) != want {
			t.Errorf("%s: %v", id, !want)
		}
	}
}

// FuzzFrame compares with the standard library, which reads what is valid
// the same way, but for the last of two names and for names in other cases.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{openBody, toolCall(1, "x"), `{"a":"\\\"","id":"\ud800","method":"\u0000"}`, `{"params":{"a":[{"b":"]}"}]},"id":1e400}`, `[]`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, no := readFrame(text)
		if no != nil {
			if no.text == "" || no.id != nil && !json.Valid(no.id) {
				t.Fatalf("%q: %+v", text, no)
			}
			return
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatalf("%q passes: %v", text, err)
		}
		var method string
		_ = json.Unmarshal(all["method"], &method)
		if string(all["id"]) != string(got.id) || method != got.method || string(all["params"]) != string(got.params) {
			t.Fatalf("%q is read as %s %q %s", text, got.id, got.method, got.params)
		}
	})
}
