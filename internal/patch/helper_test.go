package patch

import (
	"context"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/textfile"
)

// parse reads a patch that must be good.
func parse(t testing.TB, text string, opts Options) *Patch {
	t.Helper()
	p, err := Parse(text, opts)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// applied returns a content after splices.
func applied(content string, splices []textfile.Splice) string {
	var b strings.Builder
	at := 0
	for _, s := range splices {
		b.WriteString(content[at:s.Start])
		b.WriteString(s.New)
		at = s.End
	}
	return b.String() + content[at:]
}

// run applies a patch of one file to a content.
func run(content, text string, opts Options) (string, *Outcome, error) {
	p, err := Parse(text, opts)
	if err != nil {
		return "", nil, err
	}
	f := &p.Files[0]
	if f.Action == Add {
		return f.Content, &Outcome{}, nil
	}
	o, err := f.Apply(context.Background(), "f", content)
	if err != nil {
		return "", nil, err
	}
	return applied(content, o.Splices), o, nil
}

// inEnvelope puts the hunks of file f into an envelope.
func inEnvelope(hunks string) string {
	return "*** Begin Patch\n*** Update File: f\n" + hunks + "*** End Patch\n"
}
