package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// plainName is a name that TOML and every client take without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// setTable adds the table of an entry at the end of a TOML text. It does not
// read TOML: where the text may speak of the entry already, in whatever way,
// nothing is changed but by the person who wrote it.
func setTable(text []byte, e Entry) ([]byte, error) {
	if !plainName.MatchString(e.Name) {
		return nil, fmt.Errorf("the name %q needs quotes", e.Name)
	}
	table := fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = [", e.Name, quote(e.Command))
	for i, arg := range e.Args {
		if i > 0 {
			table += ", "
		}
		table += quote(arg)
	}
	table += "]\n"
	// Line ends of the other kind would hide what is there.
	if bytes.Contains(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte(table)) {
		return text, nil
	}
	for number, line := range strings.Split(string(text), "\n") {
		code, _, _ := strings.Cut(line, "#")
		mentions := strings.Contains(code, "mcp_servers")
		switch {
		case strings.Contains(line, `"""`), strings.Contains(line, "'''"):
			return nil, fmt.Errorf("line %d: a text of several lines may hold anything; add the entry by hand:\n%s", number+1, table)
		case mentions && strings.Contains(code, e.Name), mentions && !strings.HasPrefix(strings.TrimSpace(code), "[mcp_servers."):
			return nil, fmt.Errorf("line %d: there may be an entry already; change it by hand to:\n%s", number+1, table)
		}
	}
	out := bytes.Clone(text)
	if len(out) > 0 {
		if out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		out = append(out, '\n')
	}
	return append(out, table...), nil
}

// quote writes a string as TOML and JSON both have it.
func quote(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // strings can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
