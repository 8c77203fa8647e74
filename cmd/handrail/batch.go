package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// maxLine is the longest line of a batch, in bytes: the largest arguments,
// and room for the names around them.
const maxLine = tool.MaxArgs + 64<<10

func newBatch(t *terminal, f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "batch [FILE | -]",
		Short: "Run calls from JSON lines as one batch",
		Long: "Run the calls of a file, or of standard input, as one batch: calls that only look run together,\n" +
			"one that changes something runs alone, and order is kept. Each line is {\"id\"?, \"tool\", \"args\"};\n" +
			"the results are printed in order, as `call --json` prints them. If a line cannot be read,\n" +
			"nothing runs. The exit code is that of the first call that did not succeed.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			calls, err := t.readBatch(cmd.Context(), append(args, "-")[0])
			if err != nil {
				return usage(err)
			}
			progress, known := t.newProgress(), &names{}
			s, _, err := f.open(cmd.Context(), handrail.Options{
				Approver: t.approver(progress),
				OnEvent:  func(e handrail.Event) { known.observe(e); progress.observe(e); t.noteWait(f, e) },
			})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			code := exitOK
			results := s.Run(cmd.Context(), callsOf(calls)...)
			progress.clear()
			for i, r := range results {
				media, _ := saveMedia("", "", r.Media) // describing cannot fail
				one := newResultJSON(calls[i].ID, known.name(callID(i), calls[i].Tool), r, media)
				if err := t.printJSON(one); err != nil {
					return err
				}
				if code == exitOK {
					code = exitCode(r.Code)
				}
			}
			return exitWith(code)
		},
	}
	f.registerAsking(cmd)
	return cmd
}

// batchLine is one call as a line of a batch.
type batchLine struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

func callsOf(lines []batchLine) []handrail.Call {
	calls := make([]handrail.Call, len(lines))
	for i, l := range lines {
		calls[i] = handrail.Call{ID: callID(i), Tool: l.Tool, Args: l.Args}
	}
	return calls
}

// callID is the session's id for a line. The lines' own ids need not be
// there, nor differ.
func callID(i int) string { return "line-" + strconv.Itoa(i) }

func (t *terminal) readBatch(ctx context.Context, name string) ([]batchLine, error) {
	if name == "-" {
		return parseBatch("standard input", withdrawable{ctx, t.in})
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return parseBatch(name, file)
}

// parseBatch reads JSON lines and reports all that cannot be read. Empty
// lines are skipped.
func parseBatch(name string, r io.Reader) ([]batchLine, error) {
	var (
		calls    []batchLine
		problems []error
	)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		call, err := parseLine(lines.Bytes())
		if err != nil {
			oneLine := strings.ReplaceAll(err.Error(), "\n", "; ")
			problems = append(problems, fmt.Errorf("%s:%d: %s", name, n, oneLine))
			continue
		}
		calls = append(calls, call)
	}
	if err := lines.Err(); err != nil {
		problems = append(problems, fmt.Errorf("reading %s: %w", name, err))
	}
	return calls, errors.Join(problems...)
}
