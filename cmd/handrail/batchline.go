package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// parseLine reads one line of a batch, strictly: a misspelt key must not
// make a call without arguments.
func parseLine(line []byte) (batchLine, error) {
	var fields map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(line))
	if err := dec.Decode(&fields); err != nil {
		return batchLine{}, fmt.Errorf("this is not a JSON object: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return batchLine{}, errors.New("there is more than one object on the line")
	}
	var call batchLine
	var problems []error
	for key, value := range fields {
		switch key {
		case "id":
			problems = append(problems, readString("id", value, &call.ID))
		case "tool":
			problems = append(problems, readString("tool", value, &call.Tool))
		case "args":
			call.Args = value
		default:
			problems = append(problems, unknownKey(key))
		}
	}
	if call.Tool == "" && fields["tool"] == nil {
		problems = append(problems, errors.New(`the key "tool" is missing`))
	}
	return call, errors.Join(problems...)
}

func readString(key string, value json.RawMessage, into *string) error {
	var s *string
	if err := json.Unmarshal(value, &s); err != nil || s == nil {
		return fmt.Errorf("the key %q must be a string", key)
	}
	*into = *s
	return nil
}

func unknownKey(key string) error {
	known := []string{"id", "tool", "args"}
	if near, ok := suggest.Nearest(key, known); ok {
		return fmt.Errorf("unknown key %q (did you mean %q?)", tool.Clip(key), near)
	}
	return fmt.Errorf("unknown key %q; a line has id, tool and args", tool.Clip(key))
}
