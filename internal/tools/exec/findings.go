package exec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/tool"
)

// A finding is one thing that a checker says of a place.
type finding struct {
	file    string
	line    string
	level   string // "error", "warning" or another word of the checker's
	code    string
	message string
}

func (f finding) String() string {
	text := f.file + ":" + f.line + ": " + cmp.Or(f.level, "error")
	if f.code != "" {
		text += "[" + f.code + "]"
	}
	return tool.ClipText(strings.Join(strings.Fields(text+": "+f.message), " "), findingBytes)
}

var (
	// colonForm is file:line: or file:line:column: and a message. The name may
	// hold spaces and, on Windows, a drive.
	colonForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(?:vet: |#\s*)?((?:[A-Za-z]:[\\/])?[^:\s][^:]*):(\d+)(?::\d+)?:\s*(.+)$`)
	})
	// bracketForm is file(line,column): and a message, as tsc and MSBuild
	// write it. The name may hold brackets, so the last pair counts.
	bracketForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*(\S.*)\((\d+)(?:,\d+)?\):\s*(.+)$`)
	})
	// levelForm is how a message begins: "error TS2322: …", "warning: …".
	levelForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(error|warning|note|info|fatal error|hint)\b[: ]*(?:\[?([A-Z]+\d+)\]?:? ?)?:?\s*(.*)$`)
	})
	// codeForm is the code with which ruff begins: "F401 …".
	codeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z]{1,4}\d{2,5})\b:?\s+(.*)$`) })
)

// readLines finds findings in lines, of both outputs.
func readLines(out, errs string) []finding {
	var found []finding
	for line := range strings.Lines(out + "\n" + errs) {
		if f, ok := readLine(strings.TrimRight(line, "\r\n")); ok {
			found = append(found, f)
		}
	}
	return found
}

func readLine(line string) (finding, bool) {
	if len(line) > 8<<10 {
		return finding{}, false
	}
	m := colonForm().FindStringSubmatch(line)
	if m == nil {
		m = bracketForm().FindStringSubmatch(line)
	}
	if m == nil {
		return finding{}, false
	}
	if strings.Trim(m[1], "0123456789. -") == "" {
		return finding{}, false // a time of day
	}
	f := finding{file: strings.TrimSpace(m[1]), line: m[2], message: strings.TrimSpace(m[3])}
	if l := levelForm().FindStringSubmatch(f.message); l != nil && l[3] != "" {
		f.level, f.code, f.message = l[1], l[2], l[3]
	} else if c := codeForm().FindStringSubmatch(f.message); c != nil {
		f.level, f.code, f.message = "warning", c[1], c[2]
	}
	return f, true
}

// cargoLine is what is read of a message of cargo.
type cargoLine struct {
	Reason  string `json:"reason"`
	Message struct {
		Level   string `json:"level"`
		Message string `json:"message"`
		Code    *struct {
			Code string `json:"code"`
		} `json:"code"`
		Spans []struct {
			File    string `json:"file_name"`
			Line    int    `json:"line_start"`
			Primary bool   `json:"is_primary"`
		} `json:"spans"`
	} `json:"message"`
}

// readCargo finds findings in the messages of cargo, which are JSON, one a
// line. One without a place is a summary.
func readCargo(out, errs string) []finding {
	var found []finding
	for line := range strings.Lines(out) {
		var l cargoLine
		if json.Unmarshal(bytes.TrimSpace([]byte(line)), &l) != nil || l.Reason != "compiler-message" {
			continue
		}
		for _, span := range l.Message.Spans {
			if span.Primary && span.File != "" {
				f := finding{file: span.File, line: fmt.Sprint(span.Line), level: l.Message.Level, message: l.Message.Message}
				if l.Message.Code != nil {
					f.code = l.Message.Code.Code
				}
				found = append(found, f)
				break
			}
		}
	}
	if found == nil {
		return readLines("", errs)
	}
	return found
}

// unique drops what was said before, and makes paths relative to the folder.
func unique(found []finding, dir string) []finding {
	for i, f := range found {
		if rel, err := filepath.Rel(dir, f.file); filepath.IsAbs(f.file) && err == nil && filepath.IsLocal(rel) {
			f.file = rel
		}
		found[i].file = cmp.Or(strings.TrimPrefix(f.file, "./"), f.file)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(f finding) bool {
		key := f.String()
		was := seen[key]
		seen[key] = true
		return was
	})
}

// listFindings counts, and lists so many.
func listFindings(found []finding, most int) string {
	errs, warnings := 0, 0
	for _, f := range found {
		if strings.Contains(f.level, "error") || f.level == "" {
			errs++
		} else {
			warnings++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", count(errs, "error"), count(warnings, "warning"))
	for i, f := range found {
		if i == most {
			fmt.Fprintf(&b, "\n... and %d more", len(found)-i)
			break
		}
		b.WriteString("\n" + f.String())
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// inPath reports whether the PATH of an environment has a program.
func inPath(name string, env []string) bool {
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(dir) {
				return true
			}
		}
	}
	return false
}
