package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// oddID is how an id must be answered. want is the id of the answer, or ""
// where the request is refused.
var oddIDs = map[string]struct{ call, list string }{
	`0`:                     {`0`, `0`},
	`-7`:                    {`-7`, `-7`},
	`""`:                    {`""`, `""`},
	`"7"`:                   {`"7"`, `"7"`},
	`"\u0000"`:              {`"\u0000"`, `"\u0000"`},
	`"\ud800"`:              {`"\ud800"`, `"` + "\ufffd" + `"`}, // half a character, which the SDK cannot say
	`1.5`:                   {`1.5`, ""},
	`1e2`:                   {`1e2`, ""},
	`1e400`:                 {`1e400`, ""},
	`9007199254740993`:      {`9007199254740993`, ""},
	`-99999999999999999999`: {`-99999999999999999999`, ""},
	`null`:                  {"", ""},
	`true`:                  {"", ""},
	`[1]`:                   {"", ""},
	`{"a":{"b":[1]}}`:       {"", ""},
}

func TestStdioOddIDs(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read), ok("pear", tool.Read))
	p.open()
	for id, want := range oddIDs {
		for _, c := range []struct{ text, want string }{
			{toolCall(id, "apple"), want.call},
			{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/list"}`, id), want.list},
		} {
			p.send(c.text)
			got, line := p.next()
			if refused := strings.Contains(line, "-32600"); refused != (c.want == "") || !refused && got != c.want {
				t.Errorf("%s: %.200s", c.text, line)
			}
		}
		p.send(toolCall(`"else"`, "pear")) // so that no guard sees the same again and again
		p.next()
	}
}

func TestHTTPOddIDs(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	session := f.open(t)
	for id, want := range oddIDs {
		a := f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/list"}`, id), sessionHeader, session)
		b := f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{%s}}`, id, metaBody), versionHeader, modern, "Mcp-Method", "tools/list")
		for _, a := range []answer{a, b} {
			if refused := a.status == http.StatusBadRequest; refused != (want.list == "") || !refused && string(a.message.ID) != want.list {
				t.Errorf("%s: %d %.200s", id, a.status, a.body)
			}
		}
	}
}

// TestStdioMixtures: messages of two revisions, or of none, on one
// connection. Each is answered once or, where nothing is to be answered, not
// at all, and leaves the session as it was.
func TestStdioMixtures(t *testing.T) {
	p := stdioClient(t, ok("apple", tool.Read), ok("pear", tool.Read))
	p.open()
	const none = ""
	for name, c := range map[string]struct{ line, id, want string }{
		"initialize again":                {openBody, "1", `"error"`},
		"discover":                        {`{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{` + metaBody + `}}`, "2", `"supportedVersions"`},
		"discover of no revision":         {`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`, "2", `-32601`},
		"a call of the new revision":      {strings.Replace(toolCall(3, "pear"), `"arguments"`, metaBody+`,"arguments"`, 1), "3", `"resultType":"complete"`},
		"initialize in the new revision":  {`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{` + metaBody + `}}`, "4", `"error"`},
		"a revision of nonsense":          {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"apple","_meta":{"` + mcp.MetaKeyProtocolVersion + `":"\u0000"}}}`, "5", `"error"`},
		"a revision that is no text":      {`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"apple","_meta":{"` + mcp.MetaKeyProtocolVersion + `":7}}}`, "6", `"error"`},
		"a name twice":                    {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pear","name":"apple"}}`, "7", "-32602"},
		"arguments twice":                 {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pear","arguments":{},"arguments":{"x":1}}}`, "7", "-32602"},
		"a name in other letters":         {`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"Name":"apple","NAME":"pear"}}`, "8", "error"},
		"a method in other letters":       {`{"jsonrpc":"2.0","id":9,"Method":"tools/call","method":"ping","params":{"name":"apple"}}`, "9", `"result":{}`},
		"a token that is no token":        {strings.Replace(toolCall(10, "pear"), `"arguments"`, `"_meta":{"progressToken":{"a":1}},"arguments"`, 1), "10", "error"},
		"an unknown method":               {`{"jsonrpc":"2.0","id":11,"method":"tools/\u0000"}`, "11", "-32601"},
		"a notification with an id":       {`{"jsonrpc":"2.0","id":12,"method":"notifications/initialized"}`, "12", "error"},
		"a cancellation with an id":       {`{"jsonrpc":"2.0","id":13,"method":"notifications/cancelled","params":{"requestId":13}}`, "13", "error"},
		"a cancellation of nothing":       {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never"}}`, none, ""},
		"a cancellation of an odd id":     {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[]}}}`, none, ""},
		"a cancellation without":          {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, none, ""},
		"an unknown notification":         {`{"jsonrpc":"2.0","method":"notifications/unheard/of","params":[1e400]}`, none, ""},
		"a call without an id":            {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"apple"}}`, none, ""},
		"initialize without an id":        {`{"jsonrpc":"2.0","method":"initialize","params":{}}`, none, ""},
		"an answer to nothing":            {`{"jsonrpc":"2.0","id":99,"result":{}}`, none, ""},
		"an answer to an odd id":          {`{"jsonrpc":"2.0","id":1e400,"result":{}}`, none, ""},
		"an error about nothing":          {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, none, ""},
		"an answer of two kinds":          {`{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}`, none, ""},
		"a number that no float holds":    {`{"jsonrpc":"2.0","id":14,"method":"tools/call","params":{"name":"apple","arguments":{"x":1e400}}}`, "14", "invalid_input"},
		"half a character":                {`{"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"\ud800"}}`, "15", "error"},
		"deep arguments":                  {`{"jsonrpc":"2.0","id":16,"method":"tools/call","params":{"name":"apple","arguments":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat("}", 9000) + `}}`, "16", "invalid_input"},
		"deep parameters of another kind": {`{"jsonrpc":"2.0","id":17,"method":"tools/list","params":` + strings.Repeat(`[`, 9000) + strings.Repeat("]", 9000) + `}`, "17", "error"},
	} {
		p.send(c.line)
		p.send(`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
		id, line := p.next()
		if c.id != none {
			if id == `"after"` { // the SDK answers beside the reading
				id, line = p.next()
			} else if after, other := p.next(); after != `"after"` {
				t.Fatalf("%s: a second answer: %s", name, other)
			}
			if id != c.id || !strings.Contains(line, c.want) {
				t.Errorf("%s: %.300s", name, line)
			}
		} else if id != `"after"` {
			t.Fatalf("%s: is answered: %s", name, line)
		}
	}
	p.send(toolCall(100, "apple"))
	if _, line := p.next(); !strings.Contains(line, `"text":"apple`) {
		t.Errorf("afterwards: %s", line)
	}
}

// TestHTTPMixtures: what header, body and session say of the revision must
// agree.
func TestHTTPMixtures(t *testing.T) {
	f := serveTools(t, HTTPOptions{}, oneTool)
	id := f.open(t)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"apple","arguments":{},` + metaBody + `}}`
	new := func(header ...string) []string {
		return append([]string{versionHeader, modern, "Mcp-Method", callMethod, "Mcp-Name", "apple"}, header...)
	}
	with := func(key, value string) []string {
		h := new()
		for i := range h {
			if h[i] == key {
				h[i+1] = value
			}
		}
		return h
	}
	old := []string{sessionHeader, id}
	for name, c := range map[string]struct {
		body   string
		header []string
	}{
		"a batch of one in an old session":     {"[" + toolCall(1, "apple") + "]", old},
		"a batch in the oldest revision":       {"[" + toolCall(1, "apple") + "]", append(old, versionHeader, "2025-03-26")},
		"a batch of no messages":               {"[]", old},
		"another name in the header":           {call, with("Mcp-Name", "pear")},
		"another method in the header":         {call, with("Mcp-Method", "tools/list")},
		"no name in the header":                {call, with("Mcp-Name", "")},
		"another revision in the header":       {call, with(versionHeader, "2026-07-29")},
		"a revision before in the header":      {call, with(versionHeader, "2025-11-25")},
		"nonsense for a revision":              {call, with(versionHeader, "latest")},
		"a revision as a list":                 {call, with(versionHeader, modern+", 2025-11-25")},
		"nonsense in an old session":           {toolCall(1, "apple"), append(old, versionHeader, "~")},
		"the new revision in an old session":   {toolCall(1, "apple"), append(old, versionHeader, modern)},
		"the body's revision is a number":      {strings.Replace(call, `"`+modern+`"`, "20260728", 1), new()},
		"the body's revision is there twice":   {strings.Replace(call, metaBody, metaBody[:len(metaBody)-1]+`,"`+mcp.MetaKeyProtocolVersion+`":"2025-11-25"}`, 1), new()},
		"the revision is there twice, spelled": {strings.Replace(call, metaBody, metaBody[:len(metaBody)-1]+`,"`+strings.Replace(mcp.MetaKeyProtocolVersion, "io", `i\u006f`, 1)+`":"2025-11-25"}`, 1), new()},
		"parameters twice":                     {strings.Replace(call, `"method"`, `"params":{"name":"pear"},"method"`, 1), new()},
		"a name twice":                         {strings.Replace(call, `"arguments"`, `"name":"pear","arguments"`, 1), new()},
		"the method twice":                     {strings.Replace(call, `"params"`, `"method":"ping","params"`, 1), new()},
		"an id twice":                          {strings.Replace(toolCall(1, "apple"), `"id"`, `"id":2,"id"`, 1), old},
		"opening in the new revision":          {openBody, with("Mcp-Method", initialize)},
		"opening twice":                        {openBody, old},
		"a call without an id":                 {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"apple"}}`, old},
		"a notification with an id":            {`{"jsonrpc":"2.0","id":5,"method":"notifications/initialized"}`, old},
		"an unknown method":                    {`{"jsonrpc":"2.0","id":5,"method":"\u0000"}`, old},
		"an unknown method, new":               {strings.Replace(call, callMethod, "tools/burn", 1), with("Mcp-Method", "tools/burn")},
		"UTF-16":                               {"{\x00\"\x00", old},
		"an answer without a session":          {`{"jsonrpc":"2.0","id":5,"result":{}}`, nil},
		"answers nested in nothing":            {strings.Repeat(`{"jsonrpc":`, 5000), old},
	} {
		a := f.post(t, c.body, c.header...)
		refused := a.status >= 400 && a.status < 500 || a.message.Error != nil
		if !refused || a.message.Result != nil || strings.Contains(a.body, `"text":"apple`) {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
	}
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"an answer to nothing":           {`{"jsonrpc":"2.0","id":5,"result":{}}`, old, 202},
		"an unknown session beside it":   {call, new(sessionHeader, "nobody"), 200},
		"another's session beside it":    {call, new(sessionHeader, id), 200},
		"an old call":                    {toolCall(9, "apple"), old, 200},
		"an old call with its revision":  {toolCall(9, "apple"), append(old, versionHeader, "2025-11-25"), 200},
		"a cancellation of what is done": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, old, 202},
	} {
		if a := f.post(t, c.body, c.header...); a.status != c.status {
			t.Errorf("%s: %d %.200s", name, a.status, a.body)
		}
	}
}
