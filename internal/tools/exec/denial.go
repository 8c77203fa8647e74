package exec

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// scanPiece is how much of an output is searched for refusals at once, in
	// bytes: not more than [sandbox.Denials] reads.
	scanPiece = 128 << 10
	// maxRefused is how many refusals are looked for.
	maxRefused = 20
)

// scan finds in a whole output what the fence kept the command from, each once.
func (r *run) scan(from io.Reader) []sandbox.Denial {
	report := r.fence.Report()
	if report.Driver == sandbox.None {
		return nil
	}
	var found []sandbox.Denial
	var rest []byte // of a line that goes on in the next piece
	buf := make([]byte, scanPiece)
	for len(found) < maxRefused {
		n := copy(buf, rest)
		m, err := io.ReadFull(from, buf[n:])
		piece := buf[:n+m]
		end := len(piece)
		if at := bytes.LastIndexByte(piece, '\n'); err == nil && at >= 0 {
			end = at + 1
		}
		rest = bytes.Clone(piece[end:])
		if sandbox.MayTell(piece[:end]) {
			for _, d := range sandbox.Denials(report, r.dir, string(piece[:end])) {
				if !slices.ContainsFunc(found, func(o sandbox.Denial) bool { return o.Op == d.Op && o.Path == d.Path && o.Host == d.Host }) {
					found = append(found, d)
				}
			}
		}
		if err != nil {
			break
		}
	}
	return found
}

// denial says what the fence kept a command from, as its output tells, and
// how a person can be asked. The whole output was looked at, before any of it
// is cut; what is said here is appended after. Nothing is ever run again by
// itself: what came before the refusal may have had its effect.
func (r *run) denial(exit sandbox.Exit, found []sandbox.Denial, res *tool.Result) []string {
	var lines []string
	if len(exit.Appeared) > 0 {
		lines = append(lines, "Made, and from here on not to be changed by commands: "+tool.Clip(strings.Join(exit.Appeared, ", ")))
	}
	if len(found) == 0 {
		return lines
	}
	if !res.OK && res.Code == tool.CodeFailed {
		res.Code = tool.CodeSandboxDenied
	}
	if res.Metadata == nil {
		res.Metadata = map[string]any{}
	}
	res.Metadata["denials"] = found
	var what []string
	for i, d := range found {
		if i == 5 {
			what = append(what, "and more")
			break
		}
		what = append(what, describeDenial(d))
	}
	text := "The fence kept it from: " + strings.Join(what, "; ") + "."
	if r.kit.Free != nil && !r.outside {
		text += " Do it another way, inside the workspace. If there is none, call shell with this command, unfenced and a justification: " +
			"a person decides. What the command did before it was refused may then happen twice."
	}
	return append(lines, text)
}

func describeDenial(d sandbox.Denial) string {
	switch {
	case d.Op == sandbox.OpConnect && d.Host == "":
		return "using the network"
	case d.Op == sandbox.OpConnect:
		return "connecting to " + tool.Clip(d.Host)
	case d.Op == sandbox.OpSystem:
		return "a system call (" + tool.Clip(d.Line) + ")"
	case d.Path == "" && d.Op == sandbox.OpRead:
		return "reading a file"
	case d.Path == "":
		return "writing a file outside of what it may write"
	case d.Op == sandbox.OpRead:
		return "reading " + tool.Clip(d.Path)
	}
	return "writing " + tool.Clip(d.Path)
}
