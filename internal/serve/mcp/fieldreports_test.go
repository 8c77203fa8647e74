package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// bare is a tool of a stranger's, with a schema that no struct was made into.
type bare struct {
	spec tool.Spec
	run  func(c *tool.Call) (*tool.Result, error)
}

func (b bare) Spec() tool.Spec { return b.spec }
func (b bare) Run(_ context.Context, c *tool.Call) (*tool.Result, error) {
	if b.run == nil {
		return tool.Text("ran"), nil
	}
	return b.run(c)
}

func bareTool(name, input string) bare {
	return bare{spec: tool.Spec{Name: name, Description: "A stranger's.", Effects: tool.Pure, Input: []byte(input)}}
}

// listed is the list of tools on the wire.
func (p *pipe) listed() (whole string, tools []map[string]json.RawMessage) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	_, whole = p.next()
	var m struct {
		Result struct{ Tools []map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(whole), &m); err != nil {
		p.t.Fatal(err)
	}
	return whole, m.Result.Tools
}

// TestFieldReportsOfServers is topic 6 as far as it is about servers.
func TestFieldReportsOfServers(t *testing.T) {
	t.Run("F124 unknown keywords of a schema survive", func(t *testing.T) {
		const schema = `{"type":"object","title":"T","additionalProperties":false,"$defs":{"A":{"type":"string","pattern":"^a+$"}},` +
			`"properties":{"f":{"$ref":"#/$defs/A","default":"a","format":"uri","x-ours":[1,{"b":2}]}}}`
		p := stdioClient(t, bareTool("odd", schema))
		p.open()
		if _, tools := p.listed(); len(tools) != 1 || !sameJSON(t, string(tools[0]["inputSchema"]), schema) {
			t.Errorf("listed as %s", tools[0]["inputSchema"])
		}
	})
	t.Run("F125 properties need no type", func(t *testing.T) {
		p := stdioClient(t,
			bareTool("loose", `{"type":"object","properties":{"a":{},"b":true,"c":{"enum":["x"]},"d":{"anyOf":[{"$ref":"#/$defs/D"},{"type":"null"}]},"e":{"type":["string","null"]}},`+
				`"$defs":{"D":{"type":"object","properties":{"d":{"$ref":"#/$defs/D"}}}}}`),
			bareTool("nothing_said", `{"type":"object"}`))
		p.open()
		for name, args := range map[string]string{"loose": `{"a":[1],"b":null,"c":"x","d":{"d":{"d":{}}},"e":null}`, "nothing_said": `{"any":1}`} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args))
			if _, line := p.next(); !strings.Contains(line, `"text":"ran"`) {
				t.Errorf("%s: %s", name, line)
			}
		}
		p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"loose","arguments":{"d":{"d":7}}}}`)
		if _, line := p.next(); !strings.Contains(line, "invalid_input") {
			t.Errorf("the reference is not followed: %s", line)
		}
	})
	t.Run("F137 every kind of message is known", func(t *testing.T) {
		p := stdioClient(t, oneTool()...)
		p.open()
		for _, notice := range []string{"notifications/progress", "notifications/roots/list_changed", "notifications/nobody/knows", "notifications/cancelled"} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"progressToken":1,"progress":1}}`, notice))
		}
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if id, line := p.next(); id != "1" || !strings.Contains(line, `"result":{}`) {
			t.Errorf("ping: %s", line)
		}
		p.send(`{"jsonrpc":"2.0","id":2,"method":"nobody/knows"}`)
		if id, line := p.next(); id != "2" || !strings.Contains(line, "-32601") {
			t.Errorf("an unknown request: %s", line)
		}
	})
	t.Run("an attachment is sent once", func(t *testing.T) {
		shot := bareTool("shot", `{"type":"object"}`)
		shot.run = func(*tool.Call) (*tool.Result, error) {
			return &tool.Result{OK: true, Text: "one picture", Media: []tool.Media{{MIME: "audio/wav", Data: []byte("not really one")}}}, nil
		}
		p := stdioClient(t, shot)
		p.open()
		p.send(toolCall(2, "shot"))
		if _, line := p.next(); strings.Count(line, "bm90IHJlYWxseSBvbmU=") != 1 || strings.Contains(line, "structuredContent") {
			t.Errorf("answer: %s", line)
		}
	})
	t.Run("arguments that are null or missing are none", func(t *testing.T) {
		p := stdioClient(t, oneTool()...)
		p.open()
		f := serveTools(t, HTTPOptions{}, oneTool)
		session := f.open(t)
		for i, params := range []string{`{"name":"apple"}`, `{"name":"apple","arguments":null}`, `{"name":"apple","arguments":{}}`} {
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i, params)
			p.send(call)
			if _, line := p.next(); !strings.Contains(line, `"text":"apple`) {
				t.Errorf("%s: %s", params, line)
			}
			if a := f.post(t, call, sessionHeader, session); !strings.Contains(a.body, `"text":"apple`) {
				t.Errorf("%s: %s", params, a.body)
			}
		}
	})
	t.Run("F152 the list is the same in every process", func(t *testing.T) {
		tools := []tool.Tool{ok("pear", tool.Read), ok("apple", tool.Write), ok("fig", tool.Read)}
		var first string
		for i := range 3 {
			p := stdioClient(t, tools[i%3], tools[(i+1)%3], tools[(i+2)%3])
			p.open()
			whole, _ := p.listed()
			if first == "" {
				first = whole
			}
			if whole != first {
				t.Errorf("%s\nand\n%s", first, whole)
			}
		}
	})
	t.Run("F163 one id is one request", func(t *testing.T) {
		running, release := make(chan string, 1), make(chan struct{})
		p := stdioClient(t, gated("slow", running, release))
		p.open()
		p.send(toolCall(7, "slow"))
		<-running
		for _, other := range []string{toolCall(7, "slow"), `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`} {
			p.send(other)
			if id, line := p.next(); id != "7" || !strings.Contains(line, idTaken) {
				t.Errorf("%s: %s", other, line)
			}
		}
		close(release)
		if id, line := p.next(); id != "7" || !strings.Contains(line, "released") {
			t.Errorf("the first: %s", line)
		}
	})
}

func TestF141_NothingIsAListNotNull(t *testing.T) {
	void := bareTool("void", `{"type":"object"}`)
	void.run = func(*tool.Call) (*tool.Result, error) { return &tool.Result{OK: true}, nil }
	for name, tools := range map[string][]tool.Tool{"no tools": nil, "a result of nothing": {void}} {
		t.Run(name, func(t *testing.T) {
			p := stdioClient(t, tools...)
			p.open()
			for i, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "tools/call", "ping"} {
				for _, params := range []string{`{"name":"void"}`, `{"name":"void",` + metaBody + `}`} {
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, method, params))
					if _, line := p.next(); strings.Contains(line, "null") {
						t.Errorf("%s: %s", method, line)
					}
				}
			}
		})
	}
}

func TestF154_AnnotationsSayWhatEachToolDoes(t *testing.T) {
	session, err := handrail.Open(t.Context(), handrail.Options{Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	want := map[string]bool{"read_file": true, "grep": true, "glob": true, "list_dir": true, "edit_file": false, "write_file": false}
	for _, spec := range session.Specs() {
		readOnly, known := want[spec.Name]
		if !known {
			continue
		}
		delete(want, spec.Name)
		declared, err := declare(spec)
		if err != nil {
			t.Fatal(err)
		}
		a := declared.Annotations
		if a.ReadOnlyHint != readOnly || a.OpenWorldHint == nil || *a.OpenWorldHint || !readOnly && a.DestructiveHint == nil {
			t.Errorf("%s: %+v", spec.Name, a)
		}
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

func TestF158_OwnSchemasHavePlainTypes(t *testing.T) {
	session, err := handrail.Open(t.Context(), handrail.Options{Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	specs := session.Specs()
	if len(specs) < 5 {
		t.Fatalf("%d tools", len(specs))
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, many := v["type"].([]any); many {
				t.Errorf("%s: a type that is a list: %v", name, v)
			}
			for _, child := range v {
				walk(name, child)
			}
		case []any:
			for _, child := range v {
				walk(name, child)
			}
		}
	}
	for _, spec := range specs {
		var schema any
		if err := json.Unmarshal(spec.Input, &schema); err != nil {
			t.Fatal(err)
		}
		walk(spec.Name, schema)
	}
}

func TestF156_TheEndOfAClientIsNoError(t *testing.T) {
	for name, last := range map[string]string{"between calls": "", "in a line": `{"jsonrpc":"2.0","id":`} {
		t.Run(name, func(t *testing.T) {
			session, err := handrail.Open(t.Context(), handrail.Options{NoBuiltins: true, Tools: oneTool()})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			var said lockedBuffer
			server, err := New(session, Options{Logger: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))})
			if err != nil {
				t.Fatal(err)
			}
			var out lockedBuffer
			in := strings.NewReader(openBody + "\n" + toolCall(2, "apple") + "\n" + last)
			if err := server.ServeStdio(t.Context(), io.NopCloser(in), writeCloser{&out}); err != nil {
				t.Errorf("serving: %v", err)
			}
			if said.String() != "" {
				t.Errorf("log: %s", said.String())
			}
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%q is no message", line)
				}
			}
		})
	}
}

func TestF157_NumbersPassUnchanged(t *testing.T) {
	const args = `{"key":4611686018427387905,"f":1.10,"e":1E+2,"deep":[{"n":-9223372036854775807}]}`
	echo := func() []tool.Tool {
		b := bareTool("echo", `{"type":"object"}`)
		b.spec.Output = []byte(`{"type":"object"}`)
		b.run = func(c *tool.Call) (*tool.Result, error) {
			return &tool.Result{OK: true, Text: string(c.Args), Structured: c.Args}, nil
		}
		return []tool.Tool{b}
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":` + args + `,` + metaBody + `}}`
	check := func(name, text string) {
		t.Helper()
		if !strings.Contains(text, `"structuredContent":`+args) || !strings.Contains(text, `4611686018427387905,\"f\":1.10`) {
			t.Errorf("%s: %s", name, text)
		}
	}
	p := stdioClient(t, echo()...)
	p.open()
	p.send(call)
	_, line := p.next()
	check("stdio", line)
	f := serveTools(t, HTTPOptions{}, echo)
	check("a session", f.post(t, strings.Replace(call, ","+metaBody, "", 1), sessionHeader, f.open(t)).body)
	check("no session", f.post(t, call, versionHeader, modern, "Mcp-Method", callMethod, "Mcp-Name", "echo").body)
}

func TestF162_PanicsAreResults(t *testing.T) {
	broken := func() []tool.Tool {
		b := bareTool("broken", `{"type":"object"}`)
		b.run = func(*tool.Call) (*tool.Result, error) { panic("secret of the house") }
		return []tool.Tool{b, ok("apple", tool.Read)}
	}
	p := stdioClient(t, broken()...)
	p.open()
	f := serveTools(t, HTTPOptions{}, broken)
	session := f.open(t)
	p.send(strings.Replace(toolCall(2, "broken"), `"arguments"`, `"_meta":{"progressToken":1},"arguments"`, 1))
	_, line := p.next()
	for name, text := range map[string]string{"stdio": line, "a session": f.post(t, toolCall(2, "broken"), sessionHeader, session).body, "no session": f.modernCall(t, "broken").body} {
		if !strings.Contains(text, `"isError":true`) || !strings.Contains(text, "panicked") {
			t.Errorf("%s: %s", name, text)
		}
	}
	p.send(toolCall(3, "apple"))
	if _, line := p.next(); !strings.Contains(line, `"text":"apple`) {
		t.Errorf("afterwards: %s", line)
	}
	if a := f.post(t, toolCall(3, "apple"), sessionHeader, session); !strings.Contains(a.body, `"text":"apple`) {
		t.Errorf("afterwards: %s", a.body)
	}
}

// sameJSON reports whether two texts say the same.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}
