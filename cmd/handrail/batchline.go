package main

import (
	"errors"
	"fmt"

	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/suggest"
	"github.com/handrail-tools/handrail/tool"
)

// parseLine reads one line of a batch, strictly: a misspelt key must not
// make a call without arguments.
func parseLine(line []byte) (batchLine, error) {
	object, err := jsondoc.Parse(string(line))
	if err != nil {
		return batchLine{}, err
	}
	if object.Kind != jsondoc.Object {
		return batchLine{}, fmt.Errorf("a line is an object with id, tool and args, not %s", object.Kind)
	}
	var call batchLine
	var problems []error
	for i := range object.Elems {
		key, value := object.Elems[i].Key, &object.Elems[i].Node
		switch key {
		case "id":
			problems = append(problems, readString(key, value, &call.ID))
		case "tool":
			problems = append(problems, readString(key, value, &call.Tool))
		case "args":
			call.Args = value.JSON()
		default:
			problems = append(problems, unknownKey(key))
		}
	}
	if object.Find("tool") == nil {
		problems = append(problems, errors.New(`the key "tool" is missing`))
	}
	return call, errors.Join(problems...)
}

func readString(key string, value *jsondoc.Node, into *string) error {
	if value.Kind != jsondoc.String {
		return fmt.Errorf("the key %q must be a string", key)
	}
	*into = value.Text()
	return nil
}

func unknownKey(key string) error {
	known := []string{"id", "tool", "args"}
	if near, ok := suggest.Nearest(key, known); ok {
		return fmt.Errorf("unknown key %q (did you mean %q?)", tool.Clip(key), near)
	}
	return fmt.Errorf("unknown key %q; a line has id, tool and args", tool.Clip(key))
}
