package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail"
)

// asker is a client of one era over one transport.
type asker struct {
	t       *testing.T
	session *handrail.Session
	modern  bool
	send    func(method, params string) (line string)
}

type reply struct {
	Result map[string]any
	Error  *struct {
		Code    int64
		Message string
		Data    map[string]any
	}
}

func (a asker) ask(method, params string) reply {
	a.t.Helper()
	if a.modern {
		meta := metaBody
		if params == "" {
			params = meta
		} else {
			params += "," + meta
		}
	}
	line := a.send(method, "{"+params+"}")
	var r reply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		a.t.Fatalf("%s: %q: %v", method, line, err)
	}
	if a.modern && r.Error == nil && r.Result["resultType"] != "complete" {
		a.t.Errorf("%s: the result says no type: %s", method, line)
	}
	return r
}

// result is the answer of a request that must not fail.
func (a asker) result(method, params string) map[string]any {
	a.t.Helper()
	r := a.ask(method, params)
	if r.Error != nil {
		a.t.Fatalf("%s %s: %+v", method, params, *r.Error)
	}
	return r.Result
}

// askers runs a test in both eras over both transports, each with a session
// of its own.
func askers(t *testing.T, o handrail.Options, test func(*testing.T, asker)) {
	for _, modernEra := range []bool{false, true} {
		t.Run(fmt.Sprintf("stdio, modern %t", modernEra), func(t *testing.T) {
			session, p := stdioSession(t, o)
			if !modernEra {
				p.open()
			}
			id := 100
			test(t, asker{t, session, modernEra, func(method, params string) string {
				id++
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
				for { // what has no id is news
					if got, line := p.next(); got != "" {
						return line
					}
				}
			}})
		})
		t.Run(fmt.Sprintf("HTTP, modern %t", modernEra), func(t *testing.T) {
			f, sessions := serveSessions(t, o)
			var header []string
			at := 0
			if !modernEra {
				header, at = []string{sessionHeader, f.open(t), versionHeader, "2025-11-25"}, 1
			}
			test(t, asker{t, (*sessions)[at], modernEra, func(method, params string) string {
				all := header
				if modernEra {
					all = []string{versionHeader, modern, "Mcp-Method", method, "Mcp-Name", nameOf(params)}
				}
				a := f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params), all...)
				line := a.body
				if i := strings.LastIndex(line, "data: "); i >= 0 {
					line = line[i+len("data: "):]
				}
				return line
			}})
		})
	}
}

// nameOf is what the header says that repeats a request's name or address.
func nameOf(params string) string {
	var p struct{ Name, URI string }
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		panic(err)
	}
	name := p.Name + p.URI
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
	}
	return name
}

func stdioSession(t *testing.T, o handrail.Options) (*handrail.Session, *pipe) {
	t.Helper()
	session, err := handrail.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return session, pipeTo(t, session)
}

// serveSessions is serveTools for sessions with these options; it returns
// those that were opened, of which the first is that of the modern era.
func serveSessions(t *testing.T, o handrail.Options) (face, *[]*handrail.Session) {
	t.Helper()
	var sessions []*handrail.Session
	f := serveHTTP(t, HTTPOptions{Open: SessionPeers(func(ctx context.Context) (*handrail.Session, error) {
		s, err := handrail.Open(ctx, o)
		sessions = append(sessions, s)
		return s, err
	}, Options{Version: "test"})})
	return f, &sessions
}

// folder makes files and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, dir, name, text)
	}
	return dir
}

func writeFile(t testing.TB, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a asker) read(uri string) reply {
	a.t.Helper()
	raw, err := json.Marshal(uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.ask("resources/read", `"uri":`+string(raw))
}

func TestReadingResources(t *testing.T) {
	picture := "\xff\xd8\xff\xe0\x00\x10JFIF"
	dir := folder(t, map[string]string{"a.md": "one\u2028\n", "empty.txt": "", "sub/ä b#?%41.txt": "odd", "pic": picture, "secret/x": "key"})
	o := handrail.Options{Workspace: dir, Permission: handrail.Permission{Deny: []string{"read_file(secret/**)"}}}
	askers(t, o, func(t *testing.T, a asker) {
		for uri, want := range map[string][2]string{
			"handrail://files/a.md":                            {"text/markdown", "one\u2028\n"},
			"handrail://files/empty.txt":                       {"text/plain", ""},
			"handrail://files/sub/%C3%A4%20b%23%3F%2541.txt":   {"text/plain", "odd"},
			"handrail://files/sub/ä b#?%2541.txt":              {"text/plain", "odd"},
			"handrail://files/sub%2f%c3%a4%20b%23%3F%2541.txt": {"text/plain", "odd"},
		} {
			part := onlyPart(t, a.read(uri))
			if text, is := part["text"].(string); part["uri"] != uri || part["mimeType"] != want[0] || !is || text != want[1] {
				t.Errorf("%s: %+v", uri, part)
			}
		}
		part := onlyPart(t, a.read("handrail://files/pic"))
		if part["blob"] != base64.StdEncoding.EncodeToString([]byte(picture)) || part["mimeType"] != "image/jpeg" || part["text"] != nil {
			t.Errorf("a picture: %+v", part)
		}
		missing := int64(-32002)
		if a.modern {
			missing = -32602
		}
		for uri, want := range map[string]int64{
			"handrail://files/none": missing, "handrail://results/r_aaaaaaaaaaaa": missing, "handrail://changes/c_aaaaaaaaaaaa": missing,
			"file:///etc/passwd": missing, "handrail://files/": missing, "handrail://files/../a.md": missing, "handrail://files/sub/%2e%2e/a.md": missing,
			"handrail://files/%2e%2e%2fetc%2fpasswd": missing, "handrail://files//etc/passwd": missing, "handrail://files/%2Fetc/passwd": missing,
			"handrail://files/%252e%252e/x": missing, "handrail://files/%": missing, "handrail://files/%ff": missing, "HANDRAIL://files/a.md": missing,
			"handrail://files/a.md%00": -32602, "handrail://files/secret/x": -32602, "handrail://files/secret%2Fx": -32602, "handrail://results/../x": missing,
			"handrail://nothing": missing, "handrail://files/" + strings.Repeat("a", 20000): missing,
		} {
			r := a.read(uri)
			if r.Error == nil || r.Error.Code != want || r.Error.Data["uri"] == nil || len(r.Error.Message) > 5000 {
				t.Errorf("%.60q: %+v", uri, r)
			}
		}
		if r := a.read("handrail://files/secret/x"); r.Error.Data["handrail/code"] != "denied" || !strings.Contains(r.Error.Message, "read_file(secret/**)") {
			t.Errorf("%+v", *r.Error)
		}
	})
}

// A read that follows a write on the line sees what was written.
func TestReadsKeepTheOrderOfTheWire(t *testing.T) {
	dir := t.TempDir()
	session, p := stdioSession(t, handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite}, Guard: handrail.GuardOff})
	p.open()
	for i := range 30 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"w%d","method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt","content":"state %d"}}}`, i, i))
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`, i))
	}
	for range 60 {
		id, line := p.next()
		if n, read := strings.CutPrefix(strings.Trim(id, `"`), "r"); read && !strings.Contains(line, `"text":"state `+n+`"`) {
			t.Errorf("%s: %s", id, line)
		}
	}
	if log, err := session.Log(t.Context(), handrail.LogFilter{Limit: 100}); err != nil || len(log.Events) != 60 {
		t.Errorf("%d events, %v", len(log.Events), err)
	}
}

// A read that was taken back is not answered, and its id is free.
func TestReadsAreCancelled(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	_, p := stdioSession(t, handrail.Options{
		Workspace: folder(t, map[string]string{"a.txt": "one"}), Permission: handrail.Permission{Ask: []string{"read_file"}},
		Approver: func(ctx context.Context, _ handrail.ApprovalRequest) (handrail.ApprovalAnswer, error) {
			close(asked)
			<-ctx.Done()
			close(answer)
			return handrail.ApprovalAnswer{}, ctx.Err()
		},
	})
	p.open()
	p.send(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`)
	<-asked
	p.send(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"handrail://files/a.txt"}}`)
	if id, line := p.next(); id != "5" || !strings.Contains(line, "still open") {
		t.Errorf("%s", line)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	<-answer
	p.send(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	if id, line := p.next(); id != "6" {
		t.Errorf("%s", line)
	}
}

// A long content passes HTTP past the SDK's encoder, and is whole.
func TestLongContentIsWhole(t *testing.T) {
	text, data := strings.Repeat("a \"line\" with ä\n", 100_000), "\xff\xd8\xff\xe0"+strings.Repeat("\x00\x01", 500_000)
	askers(t, handrail.Options{Workspace: folder(t, map[string]string{"long.txt": text, "long.jpg": data})}, func(t *testing.T, a asker) {
		if part := onlyPart(t, a.read("handrail://files/long.txt")); part["text"] != text {
			t.Errorf("the text has %d bytes", len(fmt.Sprint(part["text"])))
		}
		if part := onlyPart(t, a.read("handrail://files/long.jpg")); part["blob"] != base64.StdEncoding.EncodeToString([]byte(data)) || part["mimeType"] != "image/jpeg" {
			t.Errorf("the bytes are %d of %v", len(fmt.Sprint(part["blob"])), part["mimeType"])
		}
	})
}

// onlyPart returns the one part of contents.
func onlyPart(t *testing.T, r reply) map[string]any {
	t.Helper()
	if r.Error != nil {
		t.Fatalf("%+v", *r.Error)
	}
	parts, ok := r.Result["contents"].([]any)
	if !ok || len(parts) != 1 {
		t.Fatalf("%+v", r.Result)
	}
	return parts[0].(map[string]any)
}

// uris are the addresses in a list.
func uris(result map[string]any) (all []string) {
	for _, r := range result["resources"].([]any) {
		all = append(all, r.(map[string]any)["uri"].(string))
	}
	return all
}

func TestListingResources(t *testing.T) {
	files := map[string]string{"zz/last.bin": "", ".hidden": "", "ignored.log": "", ".gitignore": "*.log", ".ssh/id": "", "ä 1.txt": ""}
	for i := range pageFiles + 50 {
		files[fmt.Sprintf("f%04d.go", i)] = ""
	}
	dir := folder(t, files)
	askers(t, handrail.Options{Workspace: dir, Guard: handrail.GuardOff}, func(t *testing.T, a asker) {
		a.result("tools/call", `"name":"list_dir","arguments":{"path":"zz"}`)
		a.result("tools/call", `"name":"glob","arguments":{"pattern":"zz/*"}`)
		page := a.result("resources/list", "")
		all := uris(page)
		if len(all) != pageFiles+2 || !strings.HasPrefix(all[0], resultsURI) || !strings.HasPrefix(all[1], resultsURI) || all[2] != "handrail://files/f0000.go" {
			t.Fatalf("the first page has %d: %.300q", len(all), all)
		}
		first := page["resources"].([]any)[0].(map[string]any)
		if first["title"] != "Result of glob" || first["mimeType"] != "text/plain" || first["annotations"].(map[string]any)["lastModified"] == nil {
			t.Errorf("%+v", first)
		}
		if a.modern && (page["cacheScope"] != "private" || page["ttlMs"] != 0.0) {
			t.Errorf("a list may be kept: %+v", page["cacheScope"])
		}
		// A new result and a file that is gone move nothing to another page.
		a.result("tools/call", `"name":"list_dir","arguments":{"path":"."}`)
		next := a.result("resources/list", fmt.Sprintf(`"cursor":%q`, page["nextCursor"]))
		rest := uris(next)
		if len(rest) != 52 || rest[0] != "handrail://files/f0200.go" || rest[51] != "handrail://files/%C3%A4%201.txt" || next["nextCursor"] != nil {
			t.Errorf("the second page has %d: %.300q, cursor %v", len(rest), rest, next["nextCursor"])
		}
		for _, uri := range []string{all[0], all[1], rest[51]} {
			if r := a.read(uri); r.Error != nil {
				t.Errorf("%s is listed: %+v", uri, *r.Error)
			}
		}
		for _, bad := range []string{"x", "ZmlsZXM6MTph=", "", position{"../x", 5}.cursor(), position{"a", maxListed}.cursor(), position{"a", -1}.cursor(), position{"a", 0}.cursor(), page["nextCursor"].(string) + "A"} {
			r := a.ask("resources/list", fmt.Sprintf(`"cursor":%q`, bad))
			if bad == "" && r.Error != nil || bad != "" && (r.Error == nil || r.Error.Code != -32602) {
				t.Errorf("cursor %q: %+v", bad, r)
			}
		}
	})
}

// A policy that takes the tools away takes the resources with them, and a
// server that has none does not say that it could.
func TestResourcesGoWithTheirTools(t *testing.T) {
	dir := folder(t, map[string]string{"a.txt": "one"})
	askers(t, handrail.Options{Workspace: dir, Policy: handrail.Policy{Deny: []string{"read_file"}}}, func(t *testing.T, a asker) {
		a.result("tools/call", `"name":"list_dir","arguments":{"path":"."}`)
		if all := uris(a.result("resources/list", "")); len(all) != 1 || !strings.HasPrefix(all[0], resultsURI) {
			t.Errorf("%q", all)
		}
		if r := a.read("handrail://files/a.txt"); r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, "may not be used here") {
			t.Errorf("%+v", r)
		}
		if got := templatesOf(a); slices.Contains(got, "handrail://files/{+path}") || len(got) != 4 {
			t.Errorf("%q", got)
		}
		if err := a.session.Restrict(handrail.Policy{Deny: []string{"recall", "workspace_*"}}); err != nil {
			t.Fatal(err)
		}
		if all, forms := uris(a.result("resources/list", "")), templatesOf(a); len(all)+len(forms) > 0 {
			t.Errorf("%q, %q", all, forms)
		}
	})
	askers(t, handrail.Options{NoBuiltins: true}, func(t *testing.T, a asker) {
		if r := a.ask("resources/list", ""); r.Error == nil && len(uris(r.Result)) > 0 {
			t.Errorf("%+v", r)
		}
		if a.modern {
			if caps := a.result("server/discover", "")["capabilities"].(map[string]any); caps["resources"] != nil || caps["completions"] != nil {
				t.Errorf("%+v", caps)
			}
		}
	})
}

// Where listing would need a question that nobody answers, the results are
// listed and the rest is said.
func TestListingThatMayNotLookAtFiles(t *testing.T) {
	o := handrail.Options{Workspace: folder(t, map[string]string{"a.txt": "one"}), Permission: handrail.Permission{Ask: []string{"glob"}}}
	askers(t, o, func(t *testing.T, a asker) {
		a.result("tools/call", `"name":"list_dir","arguments":{"path":"."}`)
		page := a.result("resources/list", "")
		note, _ := page["_meta"].(map[string]any)[metaNote].(string)
		if len(uris(page)) != 1 || !strings.Contains(note, "files are not listed: glob needs a person's approval") {
			t.Errorf("%+v", page)
		}
		if got := a.complete(filesURI+"{+path}", "path", "", ""); len(got) > 0 {
			t.Errorf("completion finds %q", got)
		}
	})
}

func templatesOf(a asker) (all []string) {
	a.t.Helper()
	for _, t := range a.result("resources/templates/list", "")["resourceTemplates"].([]any) {
		all = append(all, t.(map[string]any)["uriTemplate"].(string))
	}
	return all
}

// complete returns the completions of a template's variable.
func (a asker) complete(template, name, begun, known string) (values []string) {
	a.t.Helper()
	r := a.result("completion/complete", fmt.Sprintf(`"ref":{"type":"ref/resource","uri":%q},"argument":{"name":%q,"value":%q},"context":{"arguments":{%s}}`, template, name, begun, known))
	for _, v := range r["completion"].(map[string]any)["values"].([]any) {
		values = append(values, v.(string))
	}
	return values
}

func TestCompletion(t *testing.T) {
	dir := folder(t, map[string]string{"src/main.go": "", "src/made.go": "", "src/secret/key": "", "src.txt": "", ".ssh/id": "", "other": "old"})
	o := handrail.Options{Workspace: dir, Permission: handrail.Permission{Mode: handrail.WorkspaceWrite, Deny: []string{"read_file(secret)"}}}
	askers(t, o, func(t *testing.T, a asker) {
		check := func(template, name, begun, known, want string) {
			t.Helper()
			if got := strings.Join(a.complete(template, name, begun, known), " "); got != want {
				t.Errorf("%s %s of %s: %q, want %q", begun, name, template, got, want)
			}
		}
		files := filesURI + "{+path}"
		check(files, "path", "src", "", "src.txt src/made.go src/main.go")
		check(files, "path", "src/ma", "", "src/made.go src/main.go")
		check(files, "path", "src/secret/", "", "")
		check(files, "path", ".ssh/", "", "")
		check(files, "path", "../", "", "")
		check(logURI+"/{+path}", "path", "o", "", "other")
		made := a.result("tools/call", `"name":"write_file","arguments":{"path":"made.txt","content":"new"}`)
		id, _ := made["_meta"].(map[string]any)["handrail/result"].(string)
		check(resultsURI+"{id}", "id", id[:6], "", id)
		check(resultsURI+"{id}", "id", "x", "", "")
		ids := a.complete(changesURI+"{id}", "id", "c_", "")
		if len(ids) == 0 {
			t.Fatal("no change")
		}
		version := changesURI + "{id}/{side}/{+path}"
		check(version, "id", ids[0], "", ids[0])
		check(version, "side", "b", "", "before")
		check(version, "path", "", fmt.Sprintf(`"id":%q`, ids[0]), "made.txt")
		check(version, "path", "", "", "")
		if part := onlyPart(t, a.read(changesURI+ids[0]+"/after/made.txt")); part["text"] != "new" {
			t.Errorf("%+v", part)
		}
		if part := onlyPart(t, a.read(changesURI+ids[0])); !strings.Contains(part["text"].(string), "+new") {
			t.Errorf("%+v", part)
		}
		if part := onlyPart(t, a.read("handrail://log/made.txt")); !strings.Contains(part["text"].(string), ids[0]) {
			t.Errorf("%+v", part)
		}
		for _, bad := range []string{
			`"ref":{"type":"ref/resource","uri":"handrail://files/{+path}"},"argument":{"name":"id","value":""}`,
			`"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}`,
			`"ref":{"type":"ref/prompt","name":"handrail_safety"},"argument":{"name":"x","value":""}`,
		} {
			if r := a.ask("completion/complete", bad); r.Error == nil || r.Error.Code != -32602 {
				t.Errorf("%s: %+v", bad, r)
			}
		}
		if err := os.Remove(filepath.Join(dir, "made.txt")); err != nil {
			t.Error(err)
		}
	})
}

func TestSafetyPrompt(t *testing.T) {
	askers(t, handrail.Options{Workspace: t.TempDir()}, func(t *testing.T, a asker) {
		prompts := a.result("prompts/list", "")["prompts"].([]any)
		if len(prompts) != 1 || prompts[0].(map[string]any)["name"] != safetyPrompt {
			t.Fatalf("%+v", prompts)
		}
		get := func() string {
			message := a.result("prompts/get", fmt.Sprintf(`"name":%q`, safetyPrompt))["messages"].([]any)[0].(map[string]any)
			return message["content"].(map[string]any)["text"].(string)
		}
		if got := get(); got != a.session.Guidance() || !strings.Contains(got, "`read_file`") {
			t.Errorf("%q", got)
		}
		if err := a.session.Restrict(handrail.Policy{Deny: []string{"read_file"}}); err != nil {
			t.Fatal(err)
		}
		if got := get(); strings.Contains(got, "`read_file`") {
			t.Errorf("after a restriction: %q", got)
		}
		if r := a.ask("prompts/get", `"name":"other"`); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%+v", r)
		}
	})
}

// Whatever an address is, it names at most one thing, in one way but for what
// is encoded, and never a path that leads up.
func FuzzURI(f *testing.F) {
	for _, uri := range []string{
		"handrail://files/a/b.txt", "handrail://files/..", "handrail://files/%2e%2e/x", "handrail://results/r_aaaaaaaaaaaa", "handrail://changes/c_a/before/x",
		"handrail://log", "handrail://log/", "handrail://files/%zz", "handrail://files/a?b#c", "handrail://files/a%2fb", "",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		r, err := parseURI(uri)
		if err != nil {
			return
		}
		again, err := parseURI(uriOf(r))
		if err != nil || again != r {
			t.Errorf("%q: %+v, and its address %q: %+v, %v", uri, r, uriOf(r), again, err)
		}
		if strings.HasPrefix(r.Path, "/") || slices.Contains(strings.Split(r.Path, "/"), "..") {
			t.Errorf("%q leads to %q", uri, r.Path)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(position{"a/b", 200}.cursor())
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		if p, err := parseCursor(cursor); err == nil && (p.cursor() != cursor || p.count <= 0 || p.count >= maxListed) {
			t.Errorf("%q: %+v", cursor, p)
		}
	})
}

// What is wrong with the machine goes to the operator's log; a client is not
// shown the paths in it.
func TestFailuresOfTheMachineTellAClientNothing(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	o := handrail.Options{Workspace: folder(t, map[string]string{"a.txt": "one"}), StateDir: state}
	askers(t, o, func(t *testing.T, a asker) {
		a.result("tools/call", `"name":"list_dir","arguments":{"path":"."}`)
		if err := a.session.Close(); err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"resources/list", "resources/read"} {
			params := ""
			if method == "resources/read" {
				params = `"uri":"handrail://files/a.txt"`
			}
			r := a.ask(method, params)
			if r.Error == nil {
				t.Errorf("%s: %+v", method, r)
			} else if said := r.Error.Message; strings.Contains(said, state) || strings.Contains(said, "store") {
				t.Errorf("%s: %q", method, said)
			}
		}
	})
}
