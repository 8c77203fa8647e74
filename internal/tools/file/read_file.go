package file

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/pdftext"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxReadLines and maxReadBytes are one window of a read: the numbers
	// of octos, whichever comes first. Bytes are those of the answer,
	// numbers included.
	maxReadLines = 2000
	maxReadBytes = 48 << 10
	// footerRoom is what the answer may have beyond the window.
	footerRoom = 1 << 10
	// maxWholeRead is the largest file that is read into memory, in bytes
	// (octos). Windows of a larger one are read as a stream.
	maxWholeRead = 10_000_000
)

//go:embed read_file.md
var readFileWords string

type readArgs struct {
	Path       string   `json:"path,omitempty" jsonschema:"the file, relative to the workspace" min:"1"`
	Paths      []string `json:"paths,omitempty" jsonschema:"several files to read at once, instead of path"`
	StartLine  *int     `json:"start_line,omitempty" jsonschema:"first line, counted from 1"`
	EndLine    *int     `json:"end_line,omitempty" jsonschema:"last line, included"`
	Limit      *int     `json:"limit,omitempty" jsonschema:"how many lines, instead of end_line"`
	ByteOffset *int64   `json:"byte_offset,omitempty" jsonschema:"first byte, counted from 0, for a line too long for one call; not with line numbers"`
	ByteLimit  *int64   `json:"byte_limit,omitempty" jsonschema:"how many bytes from byte_offset"`
	Encoding   string   `json:"encoding,omitempty" jsonschema:"the encoding, where the recognised one is wrong"`
	Pages      string   `json:"pages,omitempty" jsonschema:"pages of a PDF, as 3 or 3-7"`
	Cell       string   `json:"cell,omitempty" jsonschema:"cell of a notebook: its id, its number from 0, or numbers as 2-5"`
	Raw        bool     `json:"raw,omitempty" jsonschema:"show a notebook as the JSON it is"`
}

// ReadFile returns the tool read_file.
func ReadFile() tool.Tool {
	return tool.Typed[readArgs]{
		Spec: tool.Spec{
			Name: "read_file", Title: "Read a file",
			Description: words(readFileWords, "max_lines", maxReadLines, "max_kib", maxReadBytes>>10, "max_paths", maxPaths),
			ArgAliases: map[string][]string{
				"path": {"file_path", "file", "filename"}, "paths": {"file_paths", "files"},
				"start_line": {"offset", "start"}, "end_line": {"end"}, "cell": {"cell_id"},
			},
			Tags: []string{"fs", "code"}, Effects: tool.Read, Concurrency: tool.Safe,
			OutputBytes: maxReadBytes + footerRoom, Verbatim: true, Idempotent: true,
		},
		Handle: readFile,
		Assess: func(_ context.Context, in readArgs) (tool.Act, error) {
			names := in.names()
			if len(names) == 0 {
				return tool.Act{}, tool.Invalidf(noPath)
			}
			summary := "read " + tool.Clip(names[0])
			if len(names) > 1 {
				summary += fmt.Sprintf(" and %d more", len(names)-1)
			}
			return tool.Act{Effects: tool.Read, Reads: names, Summary: summary}, nil
		},
	}.Tool()
}

const noPath = "name a file in path, or several in paths"

// names are all files that a call names.
func (in readArgs) names() []string {
	if in.Path == "" {
		return in.Paths
	}
	return append([]string{in.Path}, in.Paths...)
}

func readFile(ctx context.Context, _ *tool.Call, in readArgs) (*tool.Result, error) {
	want, err := in.window()
	if err != nil {
		return nil, err
	}
	switch {
	case len(in.Paths) > 1 || in.Path != "" && len(in.Paths) > 0:
		return readMany(ctx, in)
	case len(in.Paths) == 1:
		in.Path, in.Paths = in.Paths[0], nil
	}
	s, err := readOne(ctx, in, want)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, in), nil
}

// A sight is what one file has to show.
type sight struct {
	rel   string
	sum   workspace.Sum // zero: the same view cannot be recognised again
	text  string
	media []tool.Media
}

// readOne shows one file, in the form that fits what it holds.
func readOne(ctx context.Context, in readArgs, want window) (sight, error) {
	w := workspace.From(ctx)
	f, err := w.ReadFile(ctx, in.Path, maxWholeRead)
	if errors.Is(err, workspace.ErrTooLarge) {
		return readStream(ctx, w, in, want)
	}
	if err != nil {
		return sight{}, pathError(w, in.Path, err)
	}
	if in.Encoding == "" && !in.Raw {
		if show := formOf(f.Rel, f.Data, want); show != nil {
			return show(ctx, f, in, want)
		}
	}
	if err := in.noForm(f.Rel); err != nil {
		return sight{}, err
	}
	return readText(ctx, f, in, want)
}

// readText shows lines or bytes of a text.
func readText(ctx context.Context, f workspace.File, in readArgs, want window) (sight, error) {
	text, err := decode(in.Path, f.Data, in.Encoding)
	if err != nil {
		return sight{}, err
	}
	var shown shown
	if want.bytes {
		shown, err = showBytes(text.Content, want)
	} else {
		shown, err = showLines(text.Content, want)
	}
	if err != nil {
		return sight{}, err
	}
	secret := shown.hide(ctx, text.Content[max(0, shown.from-output.MaxSecret):shown.from],
		text.Content[shown.from:shown.to], text.Content[shown.to:min(len(text.Content), shown.to+output.MaxSecret)])
	seen := workspace.View{
		Version: f.Version, Sum: workspace.SumOf(f.Data), Total: int64(len(text.Content)),
		Spans: []workspace.Span{{From: int64(shown.from), To: int64(shown.to)}}, Lossy: text.Invalid > 0 || !text.Exact || secret,
	}
	workspace.From(ctx).Views().Saw(f.Rel, seen, text.Content)
	probe(ctx, f.Rel, text.Content, want)
	notes := append(shown.notes(in.Path, want), textNotes(text, shown)...)
	if f.Growing {
		notes = append(notes, "the file is being written to and has grown since")
	}
	s := sight{rel: f.Rel, text: shown.text + footer(notes)}
	if !secret {
		s.sum = seen.Sum
	}
	return s, nil
}

// decode reads the bytes of a file, in the encoding that was named if any,
// and says what a file that is not text is.
func decode(name string, data []byte, encoding string) (textfile.Text, error) {
	if encoding != "" {
		e, err := textfile.Parse(encoding)
		if err != nil {
			return textfile.Text{}, tool.Invalidf("encoding: %w", err)
		}
		text, err := textfile.DecodeAs(data, e)
		if err != nil {
			return textfile.Text{}, tool.Failf("reading %s: %w", tool.Clip(name), err)
		}
		return text, nil
	}
	text, err := textfile.Decode(data)
	if errors.Is(err, textfile.ErrBinary) {
		return textfile.Text{}, notText(name, data, int64(len(data)))
	}
	if err != nil {
		return textfile.Text{}, tool.Failf("reading %s: %w", tool.Clip(name), err)
	}
	return text, nil
}

// notText names what a file is that cannot be read as text.
func notText(name string, head []byte, size int64) error {
	kind := textfile.Sniff(head, int64(len(head)) == size)
	advice := ""
	switch {
	case kind.Image:
		advice = "; view_image shows it"
	case strings.HasPrefix(kind.What, "a PDF"):
		advice = "; read_file shows the text of one up to " + sizeOf(pdftext.MaxFile)
	case strings.Contains(kind.What, "archive"), strings.Contains(kind.What, "data"):
		advice = "; it must be unpacked or converted before it can be read"
	}
	if kind.What == "binary data" {
		advice = ""
	}
	return &tool.Error{Code: tool.CodeFailed, Err: textfile.ErrBinary,
		Text: fmt.Sprintf("%s is not text: it holds %s, %s%s", tool.Clip(name), kind.What, sizeOf(size), advice)}
}

// textNotes says what is unusual about a file, as far as it matters to who
// will change it.
func textNotes(text textfile.Text, shown shown) []string {
	var notes []string
	switch name := text.Encoding.String(); {
	case !text.Confident:
		notes = append(notes, fmt.Sprintf("the encoding is a guess: %s, confidence %d of 100; if it is wrong, name the right one in encoding", name, text.Confidence))
	case text.Encoding != textfile.UTF8 && text.BOM:
		notes = append(notes, "encoding "+name+" with a byte order mark")
	case text.Encoding != textfile.UTF8:
		notes = append(notes, "encoding "+name)
	case text.BOM:
		notes = append(notes, "UTF-8 with a byte order mark")
	}
	if text.Invalid > 0 && text.Encoding != textfile.UTF8 {
		notes = append(notes, "some bytes are no characters of this encoding")
	}
	switch e := textfile.EndingOf(text.Content); e {
	case textfile.CRLF, textfile.CR:
		notes = append(notes, "lines end with "+e.String())
	case textfile.Mixed:
		notes = append(notes, "some lines end with LF, some with CRLF")
	}
	if shown.hidden > 0 {
		notes = append(notes, plural(shown.hidden, "invisible or control character")+` shown as \u{…}, or \x{…} for a byte that is no character`)
	}
	if shown.to == len(text.Content) && shown.lines > 0 && !strings.HasSuffix(text.Content, "\n") && !strings.HasSuffix(text.Content, "\r") {
		notes = append(notes, "no line end after the last line")
	}
	return notes
}

// footer joins notes into the last line of an answer.
func footer(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return noticeStart + strings.Join(notes, "; ") + "]\n"
}
