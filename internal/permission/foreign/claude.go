package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/internal/suggest"
)

// claudeKeys are the keys of "permissions" that mean something here.
var claudeKeys = []string{"allow", "ask", "deny", "defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode",
	"denyInsteadOfPrompting", "blockReadsOutsideWorkingDirectories", "blockWritesOutsideWorkingDirectories"}

// readClaude reads the permissions of a settings file of Claude Code. What
// else such a file holds is none of this room's business.
func readClaude(src Source) (*Rules, error) {
	text := strings.TrimPrefix(string(src.Data), "\ufeff")
	doc, err := jsondoc.Parse(text)
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) {
		return nil, Problems{{1 + strings.Count(text[:min(syntax.Offset, len(text))], "\n"), "this is not JSON: " + syntax.Msg}}
	}
	if err == nil && doc.Kind != jsondoc.Object {
		err = errors.New("the settings are not an object")
	}
	if err != nil {
		return nil, Problems{{0, err.Error()}}
	}
	c := &claude{reader: reader{src: src}, lines: lines([]byte(text))}
	found := doc.Find("permissions")
	switch {
	case found == nil:
		c.note(0, "the file has no permissions")
	case found.Kind != jsondoc.Object:
		c.problem(c.lines["permissions"], "permissions is not an object")
	default:
		c.permissions(found)
	}
	if doc.Find("sandbox") != nil {
		c.note(c.lines["sandbox"], "sandbox is not carried over; Handrail's fence is set under commands and workspace")
	}
	return c.result()
}

type claude struct {
	reader
	lines map[string]int
}

func (c *claude) permissions(n *jsondoc.Node) {
	for i := range n.Elems {
		key, value := n.Elems[i].Key, &n.Elems[i].Node
		line := c.lines["permissions."+key]
		switch key {
		case "allow":
			c.list(allows, value)
		case "ask":
			c.list(asks, value)
		case "deny":
			c.list(denies, value)
		case "defaultMode":
			c.mode(line, value)
		case "additionalDirectories":
			c.folders(value)
		case "denyInsteadOfPrompting":
			if value.Kind != jsondoc.Bool || value.True() {
				c.rules.Permission.Approval = permission.Never
			}
		case "disableBypassPermissionsMode", "disableAutoMode", "blockReadsOutsideWorkingDirectories", "blockWritesOutsideWorkingDirectories":
			// It holds here always: no model and no imported file widens the
			// mode, and file tools stay in the workspace and what is granted.
		default:
			if near, ok := suggest.Nearest(key, claudeKeys); ok {
				c.problem(line, "permissions has no key %q (did you mean %q?)", clip(key), near)
			} else {
				c.note(line, "permissions.%s is not known and not carried over", clip(key))
			}
		}
	}
}

// each hands on the entries of a list of strings with their lines.
func (c *claude) each(key string, n *jsondoc.Node, do func(line int, text string)) {
	if n.Kind != jsondoc.Array {
		c.problem(c.lines["permissions."+key], "permissions.%s is not a list", key)
		return
	}
	for i := range n.Elems {
		line := c.lines[fmt.Sprintf("permissions.%s[%d]", key, i)]
		if item := &n.Elems[i].Node; item.Kind == jsondoc.String {
			do(line, item.Text())
		} else {
			c.problem(line, "an entry of permissions.%s is not a string", key)
		}
	}
}

func (c *claude) list(e effect, n *jsondoc.Node) {
	c.each(e.String(), n, func(line int, text string) { c.rule(e, line, text) })
}

// rule carries one rule over.
func (c *claude) rule(e effect, line int, entry string) {
	name, spec, has, err := splitRule(entry)
	if err != nil {
		c.cannot(e, line, entry, err.Error())
		return
	}
	pattern := has && spec != "*" && spec != "**" && spec != ":*"
	if strings.HasPrefix(name, "mcp__") {
		c.mcpRule(e, line, entry, name, pattern)
		return
	}
	known, ok := claudeTools()[name]
	switch {
	case !ok:
		c.cannot(e, line, entry, unknownTool(name))
	case known.none != "":
		c.note(line, "%s %q is left out: %s", e, clip(entry), known.none)
	case has && spec == "":
		c.cannot(e, line, entry, "its pattern is empty; the bare name covers every call")
	case e == allows && known.allow == nil:
		c.cannot(e, line, entry, "Handrail has no such tool yet, and nothing is allowed before it is there")
	case !pattern:
		for _, tool := range known.tools(e, false) {
			c.add(e, tool)
		}
	default:
		c.pattern(e, line, entry, spec, known)
	}
}

// pattern carries over a rule with something between its brackets.
func (c *claude) pattern(e effect, line int, entry, spec string, known counterpart) {
	specs := []string{spec}
	switch known.takes {
	case commands:
		if _, err := shellparse.ParsePattern(spec); err != nil {
			c.cannot(e, line, entry, err.Error())
			return
		}
	case paths:
		out, stricter, why := c.pathRule(e, spec)
		if why == "" {
			why = invalidPath(out)
		}
		if why != "" {
			c.cannot(e, line, entry, why)
			return
		}
		if stricter {
			c.note(line, "%s %q is about files outside of the workspace; it holds for every such path in folders that are granted, and in the workspace", e, clip(entry))
		}
		specs = out
	case domains:
		if !strings.HasPrefix(spec, "domain:") {
			c.cannot(e, line, entry, "its pattern is domain:HOST")
			return
		}
		host := strings.TrimPrefix(spec, "domain:")
		if rest, ok := strings.CutPrefix(host, "*."); ok {
			host = rest // a host covers the names below it
		}
		if why := invalidRule("web_fetch*(domain:" + host + ")"); why != "" {
			c.cannot(e, line, entry, why)
			return
		}
		specs = []string{"domain:" + host}
	case nothing:
		if e == allows {
			c.cannot(e, line, entry, "a rule about this tool has no pattern here")
			return
		}
		c.note(line, "%s %q holds for every call of the tool: a rule about it has no pattern here", e, clip(entry))
		specs = []string{""}
	}
	for _, tool := range known.tools(e, true) {
		for _, s := range specs {
			c.add(e, named(tool, s))
		}
	}
}

// mode carries over what happens where no rule speaks. What would let more
// happen than the settings of Handrail say is left to them.
func (c *claude) mode(line int, n *jsondoc.Node) {
	switch mode := n.Text(); {
	case n.Kind != jsondoc.String:
		c.problem(line, "permissions.defaultMode is not a string")
	case mode == "plan":
		c.rules.Permission.Mode = permission.ReadOnly
	case mode == "dontAsk":
		c.rules.Permission.Approval = permission.Never
	case slices.Contains([]string{"default", "acceptEdits", "auto", "bypassPermissions"}, mode):
		c.note(line, "defaultMode %q is not carried over; permission.mode says what needs no question", mode)
	default:
		c.problem(line, "permissions.defaultMode %q is not known", clip(mode))
	}
}

// folders carries over the folders beside the workspace.
func (c *claude) folders(n *jsondoc.Node) {
	c.each("additionalDirectories", n, func(line int, text string) {
		switch {
		case strings.HasPrefix(text, "~/") && c.src.Home != "":
			text = c.src.Home + text[1:]
		case !strings.HasPrefix(text, "/"):
			text = c.base() + "/" + text
		}
		switch text = path.Clean(text); {
		case text == "/" || text == c.src.Home:
			c.note(line, "additionalDirectories %q is left out: it is too much to grant at once", clip(text))
		case text != c.src.Workspace && !strings.HasPrefix(text, c.src.Workspace+"/"):
			c.rules.Granted = append(c.rules.Granted, text)
		}
	})
}

// splitRule reads Tool or Tool(pattern). A backslash before a bracket or
// another backslash takes its meaning away.
func splitRule(text string) (name, spec string, has bool, err error) {
	open := strings.IndexByte(text, '(')
	if open < 0 {
		if text == "" || strings.TrimSpace(text) != text || strings.ContainsAny(text, ")\\") {
			return "", "", false, errors.New("it is not the name of a tool")
		}
		return text, "", false, nil
	}
	name, spec = text[:open], text[open+1:]
	body, closed := strings.CutSuffix(spec, ")")
	if !closed || strings.HasSuffix(body, `\`) && !strings.HasSuffix(body, `\\`) {
		return "", "", false, errors.New("it has an opening bracket and no closing one at its end")
	}
	if name == "" || strings.TrimSpace(name) != name {
		return "", "", false, errors.New("it does not start with the name of a tool")
	}
	return name, strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`).Replace(body), true, nil
}

func unknownTool(name string) string {
	known := make([]string, 0, len(claudeTools()))
	for n := range claudeTools() {
		known = append(known, n)
	}
	slices.Sort(known)
	why := "Claude Code has no tool of that name that is known here"
	if near, ok := suggest.Nearest(name, known); ok {
		why += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return why
}

// lines returns the line of each key and each item of a document, by its
// path: permissions.deny[2].
func lines(data []byte) map[string]int {
	at := map[string]int{}
	d := json.NewDecoder(bytes.NewReader(data))
	line, seen := 1, 0
	here := func() int {
		end := int(d.InputOffset())
		line += bytes.Count(data[seen:end], []byte("\n"))
		seen = end
		return line
	}
	var value func(where string)
	value = func(where string) {
		token, err := d.Token()
		if _, known := at[where]; !known {
			at[where] = here()
		}
		open, nested := token.(json.Delim)
		if err != nil || !nested {
			return
		}
		for i := 0; d.More(); i++ {
			if open == '[' {
				value(fmt.Sprintf("%s[%d]", where, i))
				continue
			}
			key, err := d.Token()
			if err != nil {
				return
			}
			name, _ := key.(string) // the syntax was checked: a key is a string
			if where != "" {
				name = where + "." + name
			}
			at[name] = here()
			value(name)
		}
		_, _ = d.Token()
	}
	value("")
	return at
}
