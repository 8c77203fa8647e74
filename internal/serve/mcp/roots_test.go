package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// estate is a tree of folders of which the operator allows one, "in".
type estate struct {
	t      *testing.T
	top    string
	opened atomic.Int32
	tools  []tool.Tool // beside those for files
}

func newEstate(t *testing.T) *estate {
	e := &estate{t: t, top: t.TempDir()}
	for _, dir := range []string{"in/one", "in/two/deep", "in/a b%#", "in/state/sub", "out", "input"} {
		if err := os.MkdirAll(filepath.Join(e.top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"in/one", "in/two", "in/a b%#", "out", "input", "in"} {
		if err := os.WriteFile(filepath.Join(e.top, name, "name.txt"), []byte("this is "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"in/leaves": "../out", "in/stays": "one", "to-one": "in/one"} {
		if err := os.Symlink(target, filepath.Join(e.top, link)); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func (e *estate) open(ctx context.Context, dir, beneath string) (*handrail.Session, error) {
	e.opened.Add(1)
	return handrail.Open(ctx, handrail.Options{
		Workspace: dir, Files: handrail.WorkspaceOptions{Beneath: beneath}, Tools: e.tools, Guard: handrail.GuardAdvise,
	})
}

// none is what a client without a root gets.
func (e *estate) none(ctx context.Context) (*handrail.Session, error) {
	return handrail.Open(ctx, handrail.Options{Tools: e.tools, Guard: handrail.GuardAdvise})
}

func (e *estate) options() Options {
	e.t.Helper()
	roots, err := NewRoots([]string{filepath.Join(e.top, "in")}, []string{filepath.Join(e.top, "in/state")}, e.open)
	if err != nil {
		e.t.Fatal(err)
	}
	return Options{Version: "test", Roots: roots}
}

func (e *estate) uri(name string) string {
	return (&url.URL{Scheme: "file", Path: filepath.Join(e.top, name)}).String()
}

func TestWhichRootsAreAWorkspace(t *testing.T) {
	e := newEstate(t)
	roots := e.options().Roots
	for uri, want := range map[string]string{
		e.uri("in"):           "in",
		e.uri("in/one"):       "in/one",
		e.uri("in/one") + "/": "in/one",
		e.uri("in/two/deep"):  "in/two/deep",
		e.uri("in/a b%#"):     "in/a b%#",
		e.uri("in/stays"):     "in/one",
		e.uri("to-one"):       "in/one",
		"file://localhost" + filepath.Join(e.top, "in/one"):   "in/one",
		"FILE://" + filepath.Join(e.top, "in/one"):            "in/one",
		strings.Replace(e.uri("in/one"), "/one", "%2Fone", 1): "in/one",
		strings.Replace(e.uri("in/one"), "/one", "/%6fne", 1): "in/one",
		e.uri("out"):                            "does not lie in",
		e.uri("input"):                          "does not lie in",
		e.uri("in/leaves"):                      "does not lie in",
		e.uri(""):                               "does not lie in",
		e.uri("nowhere"):                        "does not lie in",
		"file:///":                              "does not lie in",
		e.uri("in/missing"):                     "no such folder",
		e.uri("in/one/name.txt"):                "not a folder",
		e.uri("in/state"):                       "closed",
		e.uri("in/state/sub"):                   "closed",
		e.uri("in") + "/../out":                 `".." in it`,
		e.uri("in") + "/%2e%2E/out":             `".." in it`,
		e.uri("in") + "/..%2fout":               `".." in it`,
		e.uri("in") + "/one/..":                 `".." in it`,
		"file://elsewhere" + e.top + "/in":      "another machine",
		"file://user@localhost" + e.top + "/in": "another machine",
		"file://" + e.top + "/in?x":             "more than a path",
		"file://" + e.top + "/in#x":             "more than a path",
		"file://" + e.top + "/in%00/one":        "NUL",
		"file:in/one":                           "not absolute",
		"file:":                                 "not absolute",
		"http://localhost" + e.top + "/in":      "no folder",
		e.top + "/in":                           "no folder",
		"":                                      "no folder",
		"file://" + e.top + "/in%zz":            "no address",
		"file:///" + strings.Repeat("x/", maxRootURI): "too long",
	} {
		dir, beneath, err := roots.place(uri)
		if err != nil {
			if strings.HasPrefix(want, "in") || !strings.Contains(err.Error(), want) {
				t.Errorf("%.200s: %v, want %s", uri, err, want)
			}
			continue
		}
		if dir != filepath.Join(e.top, want) || beneath != filepath.Join(e.top, "in") {
			t.Errorf("%s: %s beneath %s, want %s", uri, dir, beneath, want)
		}
	}
	if _, err := NewRoots([]string{e.top + "/nowhere", e.top + "/in/one/name.txt", e.top + "/in"}, nil, e.open); err == nil ||
		!strings.Contains(err.Error(), "nowhere") || !strings.Contains(err.Error(), "name.txt is not a folder") {
		t.Errorf("%v", err)
	}
}

// rooted connects a client of the SDK with the roots.
func (e *estate) rooted(way string, version string, roots ...string) (*mcp.Client, *mcp.ClientSession) {
	e.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, uri := range roots {
		c.AddRoots(&mcp.Root{URI: uri})
	}
	var tr mcp.Transport
	switch way {
	case "http":
		tr = overHTTPWith(e.t, e.none, e.options())
	case "stdio":
		tr = overStdioWith(e.t, e.none, e.options())
	}
	session, err := c.Connect(e.t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = session.Close() })
	return c, session
}

func read(t *testing.T, c *mcp.ClientSession) string {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_file", Arguments: map[string]any{"path": "name.txt"}})
	if err != nil {
		return err.Error()
	}
	return textOf(r)
}

func TestClientsRootIsItsWorkspace(t *testing.T) {
	for _, way := range []string{"stdio", "http"} {
		for _, version := range []string{"2025-06-18", "2025-11-25"} {
			t.Run(way+" "+version, func(t *testing.T) {
				e := newEstate(t)
				c, session := e.rooted(way, version, e.uri("out"), e.uri("in/one"), e.uri("in/two"))
				if names := list(t, session); !strings.Contains(names, "read_file") {
					t.Errorf("listed: %s", names)
				}
				if text := read(t, session); !strings.Contains(text, "this is in/one") {
					t.Error(text)
				}
				c.RemoveRoots(e.uri("in/one"))
				waitFor(t, func() bool { return strings.Contains(read(t, session), "this is in/two") })
				c.RemoveRoots(e.uri("in/two"))
				waitFor(t, func() bool {
					text := read(t, session)
					return strings.Contains(text, "no root of the client can be the workspace") && strings.Contains(text, "does not lie in a folder")
				})
				if names := list(t, session); strings.Contains(names, "read_file") {
					t.Errorf("listed without a root: %s", names)
				}
				c.AddRoots(&mcp.Root{URI: e.uri("in/one")})
				waitFor(t, func() bool { return strings.Contains(read(t, session), "this is in/one") })
			})
		}
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

func TestModernClientHasNoRootAndIsToldWhy(t *testing.T) {
	for _, way := range []string{"stdio", "http"} {
		e := newEstate(t)
		_, session := e.rooted(way, modern, e.uri("in/one"))
		if text := read(t, session); !strings.Contains(text, "is not asked for its roots") {
			t.Errorf("%s: %s", way, text)
		}
		if text := session.InitializeResult().Instructions; !strings.Contains(text, "roots") {
			t.Errorf("%s: %q", way, text)
		}
	}
}

// Each session over HTTP has its own root, whatever the others have.
func TestRootsOfSessionsAreApart(t *testing.T) {
	e := newEstate(t)
	tr := overHTTPWith(t, e.none, e.options()).(*mcp.StreamableClientTransport)
	connect := func(roots ...string) *mcp.ClientSession {
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		for _, uri := range roots {
			c.AddRoots(&mcp.Root{URI: uri})
		}
		own := *tr
		s, err := c.Connect(t.Context(), &own, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	one, two, neither := connect(e.uri("in/one")), connect(e.uri("in/two")), connect()
	for range 3 {
		if text := read(t, one); !strings.Contains(text, "this is in/one") {
			t.Error(text)
		}
		if text := read(t, two); !strings.Contains(text, "this is in/two") {
			t.Error(text)
		}
		if text := read(t, neither); !strings.Contains(text, "has no roots") {
			t.Error(text)
		}
	}
}

// lines is a client over stdio whose every message the test writes.
type lines struct {
	*pipe
	early map[string]string // answers that came while another message was awaited
}

func (e *estate) lines(wait time.Duration) lines {
	p := lines{stdioClientWith(e.t, e.none, e.options()), map[string]string{}}
	p.server.rooting.wait = wait
	p.send(strings.Replace(openBody, `"capabilities":{}`, `"capabilities":{"roots":{"listChanged":true}}`, 1))
	if id, line := p.next(); id != "1" {
		e.t.Fatal(line)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p lines) read(id int) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"name.txt"}}}`, id))
}

// asked returns the id of the server's next request for roots.
func (p lines) asked() string {
	p.t.Helper()
	for {
		if id, line := p.next(); strings.Contains(line, `"roots/list"`) {
			return id
		} else if id != "" {
			p.early[id] = line
		}
	}
}

// answers returns the next n answers to calls, by id.
func (p lines) answers(n int) map[string]string {
	p.t.Helper()
	all := maps.Clone(p.early)
	clear(p.early)
	for len(all) < n {
		if id, line := p.next(); id != "" {
			all[id] = line
		}
	}
	return all
}

func (p lines) roots(id string, uris ...string) {
	roots := []map[string]string{}
	for _, uri := range uris {
		roots = append(roots, map[string]string{"uri": uri})
	}
	list, err := json.Marshal(roots)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":%s}}`, id, list))
}

func TestCallsWaitForTheRootsInTheirOrder(t *testing.T) {
	e := newEstate(t)
	var order []string
	e.tools = []tool.Tool{tool.Func("note", "Notes.", tool.Pure, func(_ context.Context, in dangerArgs) (string, error) {
		order = append(order, in.Path) // exclusive: one at a time
		return "", nil
	})}
	p := e.lines(rootsTime)
	for i := range 50 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"note","arguments":{"path":"%d"}}}`, 100+i, i))
	}
	p.read(200)
	p.roots(p.asked(), e.uri("in/one"))
	if all := p.answers(51); !strings.Contains(all["200"], "this is in/one") {
		t.Error(all["200"])
	}
	for i, path := range order {
		if path != fmt.Sprint(i) {
			t.Fatalf("order %v", order)
		}
	}
}

func TestSilentClientHangsNothing(t *testing.T) {
	e := newEstate(t)
	p := e.lines(50 * time.Millisecond)
	p.read(2)
	id := p.asked()
	if line := p.answers(1)["2"]; !strings.Contains(line, "was asked for its roots and did not say") {
		t.Error(line)
	}
	p.roots(id, e.uri("in/one")) // too late: nothing changes until it says so
	p.read(3)
	if line := p.answers(1)["3"]; !strings.Contains(line, "did not say") {
		t.Error(line)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	p.server.rooting.mu.Lock()
	p.server.rooting.wait = rootsTime
	p.server.rooting.mu.Unlock()
	p.read(4)
	p.roots(p.asked(), e.uri("in/one"))
	if line := p.answers(1)["4"]; !strings.Contains(line, "this is in/one") {
		t.Error(line)
	}
}

func TestRootsThatKeepChanging(t *testing.T) {
	e := newEstate(t)
	p := e.lines(rootsTime)
	const changed = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	// What is asked while it changes is asked again; the last answer counts.
	p.read(2)
	first := p.asked()
	p.send(changed)
	p.roots(first, e.uri("in/one"))
	p.roots(p.asked(), e.uri("in/two"))
	if line := p.answers(1)["2"]; !strings.Contains(line, "this is in/two") {
		t.Error(line)
	}
	// The same root once more opens nothing.
	opened := e.opened.Load()
	for i := range 20 {
		p.send(changed)
		p.read(10 + i)
		p.roots(p.asked(), e.uri("in/two"))
		p.answers(1)
	}
	if n := e.opened.Load(); n != opened {
		t.Errorf("opened %d more", n-opened)
	}
	// A flood of changes asks nothing by itself.
	for range 1000 {
		p.send(changed)
	}
	p.read(3)
	p.roots(p.asked(), e.uri("in/one"))
	if line := p.answers(1)["3"]; !strings.Contains(line, "this is in/one") {
		t.Error(line)
	}
	// Thousands of roots: only the first are looked at, and few are told of.
	var many []string
	for i := range 5000 {
		many = append(many, e.uri(fmt.Sprint("out", i)))
	}
	p.send(changed)
	p.read(4)
	p.roots(p.asked(), append(many, e.uri("in/one"))...)
	if line := p.answers(1)["4"]; !strings.Contains(line, "and 4998 more") || len(line) > 4<<10 {
		t.Errorf("%.500s", line)
	}
}

// A call that runs when the root changes finishes where it began.
func TestCallFinishesInTheRootItBeganIn(t *testing.T) {
	e := newEstate(t)
	started, release := make(chan struct{}, 20), make(chan struct{})
	e.tools = []tool.Tool{tool.Func("hold", "Waits.", tool.Pure, func(ctx context.Context, _ nothing) (string, error) {
		started <- struct{}{}
		select {
		case <-release:
			return "held to the end", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})}
	const changed = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	p := e.lines(rootsTime)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hold","arguments":{}}}`)
	p.roots(p.asked(), e.uri("in/one"))
	<-started
	p.send(changed)
	p.read(3)
	p.roots(p.asked(), e.uri("in/two"))
	if line := p.answers(1)["3"]; !strings.Contains(line, "this is in/two") {
		t.Error(line)
	}
	close(release)
	if line := p.answers(1)["2"]; !strings.Contains(line, "held to the end") {
		t.Error(line)
	}
	// Who holds calls in one root after the other keeps no more than a few.
	release = make(chan struct{})
	for i := range maxLeft + 3 {
		p.send(changed)
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hold","arguments":{}}}`, 10+i))
		p.roots(p.asked(), e.uri([]string{"in/one", "in/two/deep"}[i%2]))
		<-started
	}
	ended := p.answers(2)
	if !strings.Contains(ended["10"], "cancelled") || !strings.Contains(ended["11"], "cancelled") {
		t.Errorf("ended %v", ended)
	}
	close(release)
	p.answers(maxLeft + 1)
}

// Resources are those of the workspace that the client has, and wait for it.
func TestResourcesFollowTheRoot(t *testing.T) {
	e := newEstate(t)
	p := e.lines(rootsTime)
	for i, root := range []string{"in/one", "in/two"} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, 10+i, filesURI+"name.txt"))
		p.roots(p.asked(), e.uri(root))
		if line := p.answers(1)[fmt.Sprint(10+i)]; !strings.Contains(line, "this is "+root) {
			t.Error(line)
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/list"}`, 20+i))
		if line := p.answers(1)[fmt.Sprint(20+i)]; !strings.Contains(line, "name.txt") {
			t.Error(line)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	}
}

func TestRefusedRootsAreToldOf(t *testing.T) {
	e := newEstate(t)
	p := e.lines(rootsTime)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"info"}}`)
	p.answers(1)
	p.read(2)
	p.roots(p.asked(), "file:///\u001b[2J", e.uri("out"))
	_, line := p.next()
	if !strings.Contains(line, `"notifications/message"`) || !strings.Contains(line, "does not lie in a folder") || strings.Contains(line, e.uri("in")) {
		t.Error(line)
	}
	p.answers(1)
}

func FuzzRootPath(f *testing.F) {
	for _, uri := range []string{
		"file:///a/b", "file://localhost/a", "file:///a/%2e%2e/b", "file://h/a", "file:///a?b#c", "http://a", "file:a", "file:///%00", "",
	} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, err := rootPath(uri)
		if err != nil {
			return
		}
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.Contains(path, "\x00") || strings.Contains("/"+path+"/", "/../") {
			t.Errorf("%q: %q", uri, path)
		}
	})
}

// A client that changes its roots faster than its calls stop does not keep
// ever more sessions open.
func TestSessionsThatAreEndingAreFew(t *testing.T) {
	e := newEstate(t)
	started, release := make(chan struct{}, 50), make(chan struct{})
	e.tools = []tool.Tool{tool.Func("stubborn", "Does not stop.", tool.Pure, func(context.Context, dangerArgs) (string, error) {
		started <- struct{}{}
		<-release
		return "", nil
	})}
	p := e.lines(rootsTime)
	most := 0
	for i := range 3*maxLeft + 2 {
		p.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"stubborn","arguments":{"path":"%d"}}}`, 10+i, i))
		p.roots(p.asked(), e.uri([]string{"in/one", "in/two"}[i%2]))
		<-started
		p.server.homes.mu.Lock()
		most = max(most, p.server.homes.ends)
		p.server.homes.mu.Unlock()
	}
	close(release)
	if most > maxLeft || most == 0 {
		t.Errorf("%d sessions were ending at once", most)
	}
}
