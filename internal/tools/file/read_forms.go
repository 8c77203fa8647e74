package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/pdftext"
	"github.com/handrail-tools/handrail/internal/telemetry"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// A form shows a file as something else than its text.
type form func(ctx context.Context, f workspace.File, in readArgs, want window) (sight, error)

// formOf tells by the content how a file is shown; nil means as text. The
// name counts only for notebooks, which are text as well and may be asked
// for as such.
func formOf(rel string, data []byte, want window) form {
	switch {
	case pdftext.IsPDF(data):
		return readPDF
	case textfile.Sniff(data, true).Image:
		return readPicture
	case isNotebookName(rel) && want.whole:
		return readNotebook
	}
	return nil
}

func isNotebookName(name string) bool { return strings.EqualFold(path.Ext(name), ".ipynb") }

// misfits says which arguments do not go together, whatever the file holds.
func (in readArgs) misfits(want window) []string {
	var wrong []string
	if in.Cell != "" && (in.Raw || !want.whole) {
		wrong = append(wrong, "cell does not go with raw or a range of lines or bytes")
	}
	if in.Pages != "" && (in.StartLine != nil || in.EndLine != nil || in.Limit != nil) {
		wrong = append(wrong, "pages does not go with lines; a PDF has none")
	}
	several := len(in.Paths) > 1 || in.Path != "" && len(in.Paths) > 0
	if several && (!want.whole || in.Encoding != "" || in.Pages != "" || in.Cell != "") {
		wrong = append(wrong, "paths shows each file from its start; read a part of one with path")
	}
	for _, name := range in.Paths {
		if name == "" {
			wrong = append(wrong, "paths holds an empty name")
			break
		}
	}
	if len(in.names()) == 0 {
		wrong = append(wrong, noPath)
	}
	return wrong
}

// noForm refuses arguments that mean something only for a form that the file
// does not have.
func (in readArgs) noForm(name string) error {
	switch {
	case in.Pages != "":
		return tool.Invalidf("pages is for PDF documents, and %s is none", tool.Clip(name))
	case in.Cell != "":
		return tool.Invalidf("cell is for notebooks (.ipynb), and %s is none", tool.Clip(name))
	}
	return nil
}

// readLargeForm shows a file that is too large to be held as text and is no
// text, from the descriptor that was opened (octos, lesson 38).
func readLargeForm(ctx context.Context, w *workspace.Workspace, f *os.File, head []byte, size int64, in readArgs, want window) (sight, error) {
	show, most := formOf("", head, want), int64(maxImageFile)
	if pdftext.IsPDF(head) {
		most = pdftext.MaxFile
	}
	if show == nil || in.Encoding != "" || size > most {
		return sight{}, notText(in.Path, head, size)
	}
	rest, err := io.ReadAll(io.LimitReader(f, most-int64(len(head))))
	if err != nil {
		return sight{}, tool.Failf("reading %s: %w", tool.Clip(in.Path), err)
	}
	rel, err := w.Rel(in.Path)
	if err != nil {
		return sight{}, err
	}
	return show(ctx, workspace.File{Rel: rel, Data: append(head, rest...)}, in, want)
}

// readPicture shows a picture.
func readPicture(_ context.Context, f workspace.File, in readArgs, _ window) (sight, error) {
	if err := in.noForm(f.Rel); err != nil {
		return sight{}, err
	}
	return pictureOf(f, in.Path)
}

// pictureOf shows a file as the picture that its content is, whatever it is
// called. One that cannot be decoded to its end is refused: a provider that
// is sent it refuses every later request of the conversation.
func pictureOf(f workspace.File, name string) (sight, error) {
	info, err := output.InspectWhole(f.Data)
	if err != nil {
		return sight{}, notImage(name, f.Data, err)
	}
	return sight{
		rel:   f.Rel,
		text:  fmt.Sprintf("%s: %s, %d × %d pixels, %s", f.Rel, info.Name, info.Width, info.Height, sizeOf(int64(len(f.Data)))),
		media: []tool.Media{{MIME: info.MIME, Data: f.Data}},
	}, nil
}

// sawForm records that a file was shown in another form, which is no ground
// to overwrite it (octos, lesson 42).
func sawForm(ctx context.Context, f workspace.File) workspace.Sum {
	sum := workspace.SumOf(f.Data)
	if (f.Version != workspace.Version{}) {
		workspace.From(ctx).Views().Saw(f.Rel, workspace.View{
			Version: f.Version, Sum: sum, Total: int64(len(f.Data)), Transformed: true,
		}, "")
	}
	return sum
}

// answer is the result of a call that names one file. Where the session keeps
// receipts, a view that the model was given before is not given again.
func (s sight) answer(ctx context.Context, in readArgs) *tool.Result {
	r := &tool.Result{OK: true, Text: strings.TrimSuffix(s.text, "\n"), Media: s.media}
	receipts := workspace.ReceiptsFrom(ctx)
	if receipts == nil || (s.sum == workspace.Sum{}) || len(s.media) > 0 {
		return r
	}
	view := s.view(in)
	if id, ok := receipts.Spend(view); ok {
		return tool.Text(fmt.Sprintf("%s is unchanged, and result %s above shows exactly this part of it whole; use that. The same call once more shows it again.", tool.Clip(s.rel), id))
	}
	r.Metadata = map[string]any{workspace.ViewKey: view}
	return r
}

// view identifies what a call shows: the file, its exact content, the part
// and the form.
func (s sight) view(in readArgs) string {
	in.Path, in.Paths = s.rel, nil
	part, err := json.Marshal(in)
	if err != nil {
		return ""
	}
	sum := workspace.SumOf(append(part, s.sum[:]...))
	return fmt.Sprintf("%x", sum[:16])
}

// probe tells the session's probe, if it has one, of a read of a text.
func probe(ctx context.Context, rel, text string, want window) {
	p := telemetry.ReadProbeFrom(ctx)
	if p == nil {
		return
	}
	r := telemetry.Read{Rel: rel, Unbounded: want.whole, Continued: want.first > 1 || want.offset > 0, Bytes: int64(len(text))}
	for line := range strings.Lines(text) {
		r.Lines++
		r.Longest = max(r.Longest, int64(len(line)))
	}
	p.Read(r)
}

// pdfError says why a document has no text to show.
func pdfError(name string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, pdftext.ErrEncrypted):
		advice = "; decrypt it first, for example with qpdf"
	case errors.Is(err, pdftext.ErrDamaged), errors.Is(err, pdftext.ErrTooMuch):
		advice = "; another program may read it, for example pdftotext"
	}
	return tool.Failf("%s is a PDF document whose text cannot be read: %w%s", tool.Clip(name), err, advice)
}
