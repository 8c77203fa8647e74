package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/config"
	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/handrail-tools/handrail/internal/keyvalue"
	"github.com/handrail-tools/handrail/tool"
)

// testCase is one call and what is to become of it.
type testCase struct {
	Name   string   `json:"name"`
	Call   testCall `json:"call"`
	Expect string   `json:"expect"`
	// Rule, if not "", is what has to have decided.
	Rule string `json:"rule"`
	// words are the arguments of a case in a line; line is where it stands.
	words []string
	line  int
}

type testCall struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// testFile is a file of cases.
type testFile struct {
	// Settings, where they are there, are the only ones.
	Settings json.RawMessage `json:"settings"`
	Cases    []testCase      `json:"cases"`
}

const policyTestHelp = `Judge the calls of a file, run none of them, and compare with what the file expects.

A JSON file holds {"cases": [{"call": {"tool": "shell", "args": {"command": "git push"}}, "expect": "ask"}]}.
A case may have a "name" and the "rule" that has to decide; a file may have "settings", which are then the
only ones. Any other file has a case a line, in which $ stands in front of a command that the tool shell runs:

  deny   $ git push --force
  allow  read_file path=src/main.go
  ask    write_file {"path": "docs/a.md", "content": "x"}

expect is allow, ask or deny. The exit code is 0 where all is as expected, 1 where something is not, and
2 where the file or the settings cannot be read.`

func newPolicyTest(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "test FILE",
		Short: "Compare what would become of calls with what a file expects",
		Long:  policyTestHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := readCases(args[0])
			if err != nil {
				return usage(err)
			}
			own := *f
			if file.Settings != nil {
				own.only = &config.Given{Name: args[0] + " (settings)", Data: file.Settings}
			}
			s, _, err := own.open(cmd.Context(), handrail.Options{})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			outcomes, err := judgeCases(cmd.Context(), s, file.Cases)
			if err != nil {
				return usage(fmt.Errorf("%s: %w", args[0], err))
			}
			failed := 0
			for _, o := range outcomes {
				if !o.ok() {
					failed++
				}
			}
			if f.json {
				err = t.printJSON(newTestJSON(outcomes, failed))
			} else {
				t.printOutcomes(args[0], outcomes, failed)
			}
			if failed > 0 {
				return errors.Join(err, exitWith(exitFailed))
			}
			return err
		},
	}
}

// readCases reads a file of cases, everything that is wrong with it at once.
func readCases(name string) (testFile, error) {
	data, err := readForeignFile(name)
	switch {
	case err != nil:
		return testFile{}, err
	case len(data) > config.MaxFile:
		return testFile{}, fmt.Errorf("%s is larger than %d bytes", name, config.MaxFile)
	}
	var file testFile
	var errs []error
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil {
			return file, fmt.Errorf("%s: %w", name, err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return file, fmt.Errorf("%s: something follows the object", name)
		}
	} else {
		file.Cases, errs = lineCases(name, data)
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		if !slices.Contains([]string{"allow", "ask", "deny"}, c.Expect) {
			errs = append(errs, fmt.Errorf("%s: case %s expects %q%s", name, c.label(i), tool.Clip(c.Expect), orWords(c.Expect, []string{"allow", "ask", "deny"})))
		}
		if c.Call.Tool == "" {
			errs = append(errs, fmt.Errorf("%s: case %s calls no tool", name, c.label(i)))
		}
	}
	if len(file.Cases) == 0 && errs == nil {
		errs = append(errs, fmt.Errorf("%s holds no case", name))
	}
	return file, errors.Join(errs...)
}

// label names a case for a message: by its name, its line or its number.
func (c *testCase) label(i int) string {
	switch {
	case c.Name != "":
		return tool.Clip(c.Name)
	case c.line > 0:
		return fmt.Sprintf("in line %d", c.line)
	}
	return fmt.Sprint(i + 1)
}

// lineCases reads a case a line.
func lineCases(name string, data []byte) (cases []testCase, errs []error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		expect, rest, _ := strings.Cut(line, " ")
		called, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
		c := testCase{Expect: expect, Call: testCall{Tool: called}, line: n}
		switch args = strings.TrimSpace(args); {
		case called == "$":
			c.Call = testCall{"shell", append(jsondoc.AppendString([]byte(`{"command":`), args), '}')}
		case strings.HasPrefix(args, "{"):
			c.Call.Args = json.RawMessage(args)
		default:
			c.words = strings.Fields(args)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return cases, errs
}

// outcome is what became of a case.
type outcome struct {
	label string
	asked testCase
	got   handrail.Explanation
	rule  string
}

func (o *outcome) outcome() string {
	if o.got.Code != "" {
		return "deny"
	}
	return o.got.Outcome.String()
}

// ok reports whether it is what was expected. A call that is malformed is no
// refusal of the rules.
func (o *outcome) ok() bool {
	return o.outcome() == o.asked.Expect && (o.asked.Rule == "" || o.asked.Rule == o.rule) && exitCode(o.got.Code) != exitUsage
}

func judgeCases(ctx context.Context, s *handrail.Session, cases []testCase) ([]outcome, error) {
	specs := s.Specs()
	out := make([]outcome, len(cases))
	var errs []error
	for i, c := range cases {
		args := c.Call.Args
		if c.words != nil {
			var schema json.RawMessage
			if spec := specOf(specs, c.Call.Tool); spec != nil {
				schema = spec.Input
			}
			raw, err := keyvalue.Parse(schema, c.words)
			if err != nil {
				errs = append(errs, fmt.Errorf("case %s: %w", c.label(i), err))
				continue
			}
			args = raw
		}
		e := s.Explain(ctx, handrail.Call{Tool: c.Call.Tool, Args: args})
		out[i] = outcome{label: c.label(i), asked: c, got: e}
		for _, step := range e.Steps {
			if step.Rule != "" {
				out[i].rule = step.Rule
			}
		}
		out[i].asked.Call.Args = args
	}
	return out, errors.Join(errs...)
}

// testJSON is what `policy test --json` prints.
type testJSON struct {
	Cases  int           `json:"cases"`
	Failed int           `json:"failed"`
	Each   []outcomeJSON `json:"results"`
}

type outcomeJSON struct {
	Case        string          `json:"case"`
	OK          bool            `json:"ok"`
	Expect      string          `json:"expect"`
	Got         string          `json:"got"`
	Rule        string          `json:"rule"`
	Explanation explanationJSON `json:"explanation"`
}

func newTestJSON(all []outcome, failed int) testJSON {
	out := testJSON{Cases: len(all), Failed: failed, Each: make([]outcomeJSON, len(all))}
	for i := range all {
		o := &all[i]
		out.Each[i] = outcomeJSON{o.label, o.ok(), o.asked.Expect, o.outcome(), o.rule, newExplanationJSON(o.asked.Call.Tool, o.got)}
	}
	return out
}

// printOutcomes shows the cases that failed, each with its decision tree.
func (t *terminal) printOutcomes(name string, all []outcome, failed int) {
	for i := range all {
		o := &all[i]
		if o.ok() {
			continue
		}
		where := visible(name)
		if o.asked.line > 0 {
			where += fmt.Sprintf(":%d", o.asked.line)
		}
		fmt.Fprintf(t.out, "%s  %s: case %s: %s %s\n", t.bad("FAIL"), where, visible(o.label), visible(o.asked.Call.Tool), visible(tool.ClipText(string(o.asked.Call.Args), 300)))
		switch got := o.outcome(); {
		case exitCode(o.got.Code) == exitUsage:
			fmt.Fprintf(t.out, "    want %s, and the call is malformed: %s\n", o.asked.Expect, o.got.Code)
		case got != o.asked.Expect:
			fmt.Fprintf(t.out, "    want %s, got %s\n", o.asked.Expect, got)
		default:
			fmt.Fprintf(t.out, "    want it decided by %q, and %q did\n", visible(o.asked.Rule), visible(o.rule))
		}
		t.printTree("    ", o.got)
	}
	if failed == 0 {
		fmt.Fprintln(t.out, t.good(fmt.Sprintf("%s as expected.", plural(len(all), "case"))))
		return
	}
	fmt.Fprintf(t.out, "%d of %s not as expected.\n", failed, plural(len(all), "case"))
}
