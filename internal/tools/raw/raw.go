// Package raw has what those functions share that run in the place of a tool
// and return, as it is, what the tool would show to a model. Each stands in
// the room of its tool, in content.go, and goes by the call alone.
package raw

import (
	"bytes"
	"encoding/json"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/tool"
)

// Args decodes the arguments of a call. One that has further arguments,
// which only a hook can have given it, is refused: they would be ignored.
func Args(call *tool.Call, in any) error {
	d := json.NewDecoder(bytes.NewReader(call.Args))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return tool.Errorf(tool.CodeDenied, "a hook has made of this call of %s one that can only be shown to a model: %w", call.Tool, err)
	}
	return nil
}

// Result shows data as it is: a text as the result's text, in UTF-8, and
// anything else as one medium.
func Result(data []byte) *tool.Result {
	if text, ok := textfile.Plain(data); ok {
		return tool.Text(text)
	}
	return &tool.Result{OK: true, Media: []tool.Media{{MIME: Binary, Data: data}}}
}

// Binary is the media type of data of which nothing is known.
const Binary = "application/octet-stream"

// TooLarge refuses content beyond a limit and says what brings a part of it.
func TooLarge(what string, size, limit int64, part string) error {
	return tool.Errorf(tool.CodeTooLarge, "%s has %d bytes; at most %d are shown as they are. %s", what, size, limit, part)
}
