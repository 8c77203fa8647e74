package file

import (
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handrail-tools/handrail/internal/telemetry"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed write_file.md
var writeFileWords string

type writeArgs struct {
	Path       string `json:"path" jsonschema:"the file, relative to the workspace" min:"1"`
	Content    string `json:"content" jsonschema:"the whole content; may be empty"`
	CreateOnly bool   `json:"create_only,omitempty" jsonschema:"fail if the file exists"`
	Encoding   string `json:"encoding,omitempty" jsonschema:"the encoding to write, where it is not to be that of the existing file, or UTF-8 for a new one"`
}

// WriteFile returns the tool write_file.
func WriteFile() tool.Tool {
	return tool.Typed[writeArgs]{
		Spec: tool.Spec{
			Name: "write_file", Title: "Write a file",
			Description: words(writeFileWords),
			ArgAliases: map[string][]string{
				"path": {"file_path", "file", "filename"}, "content": {"contents", "text", "file_text"},
			},
			Tags: []string{"fs", "code"}, Effects: tool.Write, Idempotent: true,
		},
		Handle: writeFile,
		Assess: func(_ context.Context, in writeArgs) (tool.Act, error) {
			return tool.Act{
				Effects: tool.Write, Writes: []string{in.Path},
				Summary: fmt.Sprintf("write %s to %s", sizeOf(int64(len(in.Content))), tool.Clip(in.Path)),
			}, nil
		},
	}.Tool()
}

func writeFile(ctx context.Context, _ *tool.Call, in writeArgs) (*tool.Result, error) {
	w := workspace.From(ctx)
	p := plan{w: w, in: in, content: in.Content, opts: workspace.WriteOptions{CreateOnly: true}}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	if err := p.copied(); err != nil {
		return nil, err
	}
	data, err := p.encode()
	if err != nil {
		return nil, err
	}
	if p.exists && string(data) == string(p.old.Data) {
		w.Views().Wrote(p.old.Rel, p.old.Version, workspace.SumOf(data), p.content)
		return tool.Text(fmt.Sprintf("%s has exactly this content already; nothing was written.", tool.Clip(p.old.Rel))), nil
	}
	change, err := w.WriteFile(ctx, in.Path, data, p.opts)
	if err != nil {
		return nil, p.failed(err)
	}
	w.Views().Wrote(change.Rel, change.After, workspace.SumOf(data), p.content)
	telemetry.ReadProbeFrom(ctx).Overwrote(change.Rel)
	return &tool.Result{OK: true, Text: p.report(change, len(data)), Changed: []string{change.Rel}}, nil
}

// A plan is one write before it happens.
type plan struct {
	w       *workspace.Workspace
	in      writeArgs
	content string // with the line ends that will be written
	exists  bool
	old     workspace.File // if exists
	text    textfile.Text  // of old, if it is text
	isText  bool
	opts    workspace.WriteOptions
	notes   []string
}

// look finds out what is there and whether it may be replaced. The write is
// then bound to the state that was looked at.
func (p *plan) look(ctx context.Context) error {
	old, err := p.w.ReadFile(ctx, p.in.Path, maxWholeRead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if r, err := p.w.Resolve(p.in.Path); err != nil || r.Exists {
			return err
		}
		return nil
	case errors.Is(err, workspace.ErrTooLarge):
		return refused("partial_view", "%s was not seen whole: it has more than %s. Change it with edit_file, or write the new content under another name", tool.Clip(p.in.Path), sizeOf(maxWholeRead))
	case err != nil:
		return pathError(p.w, p.in.Path, err)
	}
	if p.in.CreateOnly {
		return &tool.Error{Code: tool.CodeFailed, Err: fs.ErrExist,
			Text: tool.Clip(old.Rel) + " exists already, and create_only leaves an existing file alone. Nothing was written."}
	}
	p.exists, p.old = true, old
	p.opts = workspace.WriteOptions{Expect: &old.Version}
	if text, err := textfile.Decode(old.Data); err == nil {
		p.text, p.isText = text, true
	}
	return mayReplace(p.w.Views(), old, int64(len(p.in.Content)))
}

// copied refuses content that is the listing of a read and not a file.
func (p *plan) copied() error {
	if p.isText {
		// A file that holds such text already is allowed to go on doing so.
		if _, ours, ok := stripNumbers(p.text.Content); ok && ours || cutNotice(p.text.Content) != "" {
			return nil
		}
	}
	if notice := cutNotice(p.in.Content); notice != "" {
		return tool.Invalidf("the content holds the line %q, which read_file adds to its answer and which is not part of any file. Nothing was written; leave it out, and make sure that the lines it says were not shown are there", tool.Clip(notice))
	}
	if _, ours, ok := stripNumbers(p.in.Content); ok && ours {
		return tool.Invalidf("every line of the content begins with a line number and %q, as read_file shows lines; they are not part of the file. Nothing was written; give the text after the %q alone", bar, bar)
	}
	return nil
}

// encode turns the content into bytes like those of the file that it
// replaces.
func (p *plan) encode() ([]byte, error) {
	if p.in.Encoding != "" {
		e, err := textfile.Parse(p.in.Encoding)
		if err != nil {
			return nil, tool.Invalidf("encoding: %w", err)
		}
		data, err := textfile.NewFile(p.content, e)
		if err != nil {
			return nil, tool.Invalidf("encoding: %w", err)
		}
		return data, nil
	}
	if !p.isText || len(p.old.Data) == 0 {
		return []byte(p.content), nil
	}
	if e := textfile.EndingOf(p.text.Content); (e == textfile.CRLF || e == textfile.CR) && textfile.EndingOf(p.content) == textfile.LF {
		p.content = textfile.WithEnding(p.content, e)
		p.notes = append(p.notes, "its "+e.String()+" line ends were kept")
	}
	if !p.text.Confident || !p.text.Exact || p.text.Encoding == textfile.UTF8 && !p.text.BOM {
		if !p.text.Confident {
			p.notes = append(p.notes, "it is UTF-8 now; what it was before could not be told")
		}
		return []byte(p.content), nil
	}
	data, err := p.text.Encode(strings.TrimPrefix(p.content, "\ufeff"))
	var char *textfile.CharError
	if errors.As(err, &char) {
		return nil, tool.Invalidf("%s cannot hold the content: %w. Nothing was written; write the character otherwise, or give encoding \"UTF-8\" to change the file's encoding", tool.Clip(p.old.Rel), err)
	}
	if err != nil {
		return nil, tool.Failf("writing %s: %w", tool.Clip(p.old.Rel), err)
	}
	mark := ""
	if p.text.BOM {
		mark = " with its byte order mark"
	}
	p.notes = append(p.notes, "its encoding "+p.text.Encoding.String()+mark+" was kept")
	return data, nil
}

// failed says why a write that was planned did not happen.
func (p *plan) failed(err error) error {
	if errors.Is(err, fs.ErrExist) && !p.in.CreateOnly {
		return refused("changed", "%s did not exist a moment ago and does now; it was left alone. Read it before you replace it", tool.Clip(p.in.Path))
	}
	return pathError(p.w, p.in.Path, err)
}

// report says what was written.
func (p *plan) report(c workspace.Change, size int) string {
	var b strings.Builder
	now := fmt.Sprintf("%s, %s", plural(countLines(p.content), "line"), sizeOf(int64(size)))
	if c.Created {
		fmt.Fprintf(&b, "Created %s: %s.", tool.Clip(c.Rel), now)
	} else {
		fmt.Fprintf(&b, "Overwrote %s: %s", tool.Clip(c.Rel), now)
		if p.isText {
			fmt.Fprintf(&b, " (before: %s, %s)", plural(countLines(p.text.Content), "line"), sizeOf(c.Before.Size))
		}
		b.WriteByte('.')
	}
	if len(c.Folders) > 0 {
		fmt.Fprintf(&b, " Made the folder %s.", tool.Clip(c.Folders[len(c.Folders)-1]))
	}
	if len(p.notes) > 0 {
		fmt.Fprintf(&b, " Of the file, %s.", strings.Join(p.notes, " and "))
	}
	b.WriteString(linkNote(c))
	return b.String()
}

// linkNote warns of further names that keep the old content.
func linkNote(c workspace.Change) string {
	if c.Created || c.OtherNames == 0 {
		return ""
	}
	return fmt.Sprintf(" The file had %s beside this one, as hard links: they keep the old content.", plural(c.OtherNames, "other name"))
}

// countLines counts lines, the last one also where it has no end.
func countLines(text string) int {
	mark := lineMark(text)
	n := strings.Count(text, mark)
	if text != "" && !strings.HasSuffix(text, mark) {
		n++
	}
	return n
}
