// Package clientconfig writes an MCP server's entry into the settings of the
// clients that people use. It takes a text and gives a text: what it does not
// change stays byte for byte, comments included, and what it does not
// understand is an error.
package clientconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Entry is how a client starts the server.
type Entry struct {
	// Name is what the client calls the server.
	Name string
	// Command and Args are the program and what it is started with.
	Command string
	Args    []string
}

// client is how one client keeps its settings.
type client struct {
	name string
	path func(Place) string
	// key is the object of servers in a JSON file; nil means a TOML file.
	key  []string
	form func(Entry) any
}

// Place is where settings are looked for.
type Place struct {
	// Home is the person's folder and Project the project's.
	Home, Project string
	// CodexHome is Codex's folder where it is not below Home, or "".
	CodexHome string
}

var clients = []client{
	{name: "claude", path: inProject(".mcp.json"), key: []string{"mcpServers"}, form: typed},
	{name: "codex", path: func(p Place) string {
		if p.CodexHome != "" {
			return filepath.Join(p.CodexHome, "config.toml")
		}
		return filepath.Join(p.Home, ".codex", "config.toml")
	}},
	{name: "gemini", path: inProject(".gemini", "settings.json"), key: []string{"mcpServers"}, form: plain},
	{name: "opencode", path: inProject("opencode.json"), key: []string{"mcp"}, form: local},
	{name: "vscode", path: inProject(".vscode", "mcp.json"), key: []string{"servers"}, form: typed},
}

func inProject(parts ...string) func(Place) string {
	return func(p Place) string { return filepath.Join(append([]string{p.Project}, parts...)...) }
}

func plain(e Entry) any {
	return struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{e.Command, e.Args}
}

func typed(e Entry) any {
	return struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{"stdio", e.Command, e.Args}
}

func local(e Entry) any {
	return struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}{"local", append([]string{e.Command}, e.Args...), true}
}

// Names are the clients that are known.
func Names() []string {
	var names []string
	for _, c := range clients {
		names = append(names, c.name)
	}
	return names
}

func find(name string) (client, error) {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, fmt.Errorf("%q is no client that is known", name)
	}
	return clients[i], nil
}

// Path is the file in which a client keeps its servers.
func Path(name string, p Place) (string, error) {
	c, err := find(name)
	if err != nil {
		return "", err
	}
	return c.path(p), nil
}

// maxFile is the largest settings file that is read, in bytes.
const maxFile = 4 << 20

// ErrLarge is the error for settings that are too large to be some.
var ErrLarge = errors.New("the file is too large for settings")

// Set returns a client's settings with the entry in them. An entry of that
// name in a JSON file is replaced; in a TOML file one that says something
// else is an error.
func Set(name string, settings []byte, e Entry) ([]byte, error) {
	c, err := find(name)
	if err != nil {
		return nil, err
	}
	if len(settings) > maxFile {
		return nil, ErrLarge
	}
	if c.key == nil {
		return setTable(settings, e)
	}
	value, err := json.Marshal(c.form(e))
	if err != nil {
		return nil, err
	}
	return setMember(settings, append(slices.Clone(c.key), e.Name), value)
}
