package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

// TestRepairsCannotSteer shows repairs that quote what a model sent.
func TestRepairsCannotSteer(t *testing.T) {
	var shown bytes.Buffer
	r := tool.Text("done")
	r.Repairs = []string{"read \x1b[2Jpth\u202e as path\nhandrail: all is well"}
	r.Changed = []string{"a\nb"}
	(&terminal{out: &bytes.Buffer{}, err: &shown, errTTY: true}).printResult("x", r, nil)
	if got := shown.String(); strings.ContainsAny(got, "\x1b\u202e") || strings.Count(got, "\n") != 1 || !strings.Contains(got, `\u{1b}[2Jpth`) {
		t.Errorf("%q", got)
	}
}
