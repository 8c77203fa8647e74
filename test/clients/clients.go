package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/handrail-tools/handrail/test/clients/model"
)

// callTimeout is how long a client waits for a call of the scenario, in
// milliseconds.
const callTimeout = 6000

// client is what has to be known of one MCP client.
type client struct {
	// name is also that of its program and of its entry in `mcp install`.
	name string
	// form is the wire form in which it speaks with its model.
	form string
	// shown is how the model sees one of our tools.
	shown func(name string) model.Tool
	// connected stands in what `mcp list` prints of a server that answers.
	connected string
	listing   []string
	// env is what the client needs in its environment at all times.
	env []string
	// furnish writes what the client needs beside the entry that
	// `mcp install` writes, before it, and adjust changes that entry.
	furnish, adjust func(*run) error
	// remote writes the entry of a server that is reached over HTTP.
	remote func(*run) error
	// prompt is how it is run without a person.
	prompt func(*run) (args, env []string)
	// marksErrors says that its wire form tells a failed call from another.
	marksErrors bool
	// believes says that without a person's leave it runs the tools that are
	// marked as read-only, and no others.
	believes bool
}

func inFront(prefix string) func(string) model.Tool {
	return func(name string) model.Tool { return model.Tool{Name: prefix + name} }
}

var clients = []client{
	{
		name: "claude", form: "anthropic", shown: inFront("mcp__handrail__"), marksErrors: true,
		listing: []string{"mcp", "list"}, connected: "Connected",
		// A person would be asked whether the project's servers may be used.
		furnish: func(r *run) error {
			return r.write(filepath.Join(r.home, ".claude", "settings.json"), `{"enableAllProjectMcpServers": true}`)
		},
		remote: func(r *run) error {
			return r.writeJSON(filepath.Join(r.files, ".mcp.json"), object{"mcpServers": object{"handrail": object{
				"type": "http", "url": r.server, "headers": bearer}}})
		},
		prompt: func(r *run) (args, env []string) {
			return []string{"-p", task, "--mcp-config", filepath.Join(r.files, ".mcp.json"), "--strict-mcp-config",
					"--allowedTools", "mcp__handrail__*", "--output-format", "stream-json", "--verbose"},
				[]string{"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + r.model.URL(), fmt.Sprintf("MCP_TOOL_TIMEOUT=%d", callTimeout),
					"ENABLE_TOOL_SEARCH=false", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	},
	{
		name: "codex", form: "responses",
		shown:   func(name string) model.Tool { return model.Tool{Space: "mcp__handrail", Name: name} },
		listing: []string{"mcp", "list", "--json"}, connected: `"enabled": true`,
		believes: true,
		furnish: func(r *run) error {
			return r.write(filepath.Join(r.home, ".codex", "config.toml"), "check_for_update_on_startup = false\n")
		},
		remote: func(r *run) error {
			return r.write(filepath.Join(r.home, ".codex", "config.toml"),
				fmt.Sprintf("[mcp_servers.handrail]\nurl = %q\nbearer_token_env_var = \"SCRIPTED_TOKEN\"\n", r.server))
		},
		prompt: func(r *run) (args, env []string) {
			args = []string{"exec", "--skip-git-repo-check", "--json",
				"-c", `model_provider="scripted"`, "-c", `model="gpt-5"`,
				"-c", `model_providers.scripted={name="scripted",base_url="` + r.model.URL() + `/v1",wire_api="responses",env_key="SCRIPTED_KEY"}`,
				"-c", fmt.Sprintf("mcp_servers.handrail.tool_timeout_sec=%d", callTimeout/1000)}
			if r.leave {
				args = append(args, "-c", `mcp_servers.handrail.default_tools_approval_mode="approve"`)
			}
			return append(args, task), []string{"SCRIPTED_KEY=none", "SCRIPTED_TOKEN=" + token}
		},
	},
	{
		name: "gemini", form: "gemini", shown: inFront("mcp_handrail_"), marksErrors: true,
		listing: []string{"mcp", "list"}, connected: "Connected",
		// A person would be asked both.
		env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"},
		furnish: func(r *run) error {
			return r.write(filepath.Join(r.home, ".gemini", "settings.json"), `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`)
		},
		adjust: func(r *run) error {
			return edit(filepath.Join(r.files, ".gemini", "settings.json"), func(s map[string]any) error {
				servers, _ := s["mcpServers"].(map[string]any)
				entry, ok := servers["handrail"].(map[string]any)
				if !ok {
					return fmt.Errorf("no entry in %v", s)
				}
				entry["timeout"] = callTimeout
				return nil
			})
		},
		remote: func(r *run) error {
			return r.writeJSON(filepath.Join(r.files, ".gemini", "settings.json"), object{"mcpServers": object{"handrail": object{
				"httpUrl": r.server, "headers": bearer, "timeout": callTimeout}}})
		},
		prompt: func(r *run) (args, env []string) {
			return []string{"-p", task, "-m", "gemini-2.5-flash", "--yolo", "-o", "stream-json"},
				[]string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + r.model.URL()}
		},
	},
	{
		name: "opencode", form: "chat", shown: inFront("handrail_"),
		listing: []string{"mcp", "list"}, connected: "connected",
		furnish: func(r *run) error {
			text := fmt.Sprintf(`{"model": "scripted/m", "small_model": "scripted/m", "autoupdate": false, "share": "disabled",
				"experimental": {"mcp_timeout": %d},
				"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": %q, "apiKey": "none"},
					"models": {"m": {"tool_call": true, "attachment": true, "limit": {"context": 200000, "output": 8000},
						"modalities": {"input": ["text", "image"], "output": ["text"]}}}}}}`, callTimeout, r.model.URL()+"/v1")
			return r.write(filepath.Join(r.home, ".config", "opencode", "opencode.json"), text)
		},
		remote: func(r *run) error {
			return r.writeJSON(filepath.Join(r.files, "opencode.json"), object{"mcp": object{"handrail": object{
				"type": "remote", "url": r.server, "headers": bearer, "enabled": true}}})
		},
		prompt: func(*run) (args, env []string) {
			return []string{"run", "--format", "json", task}, []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
	},
}

// token is what our server asks for over HTTP, and bearer how it is sent.
const token = "a-token-that-only-this-run-knows"

var bearer = object{"Authorization": "Bearer " + token}

// object is a JSON object to be written.
type object = map[string]any

// task is what the person asks for; the script does not depend on it.
const task = "work through the list"

// write writes a file and the folders above it.
func (r *run) write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// writeJSON writes a file that holds a JSON value.
func (r *run) writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return r.write(path, string(data))
}

// edit changes a file that holds a JSON object.
func edit(path string, change func(map[string]any) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var settings map[string]any
	if err := json.Unmarshal(data, &settings); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := change(settings); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	data, err = json.Marshal(settings)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
