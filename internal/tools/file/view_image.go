package file

import (
	"context"
	_ "embed" // for the description
	"errors"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

// maxImageFile is the largest picture that is read, in bytes. The media
// pipeline scales what it is given, and decodes nothing larger than this.
const maxImageFile = 64 << 20

//go:embed view_image.md
var viewImageWords string

type viewArgs struct {
	Path string `json:"path" jsonschema:"the picture, relative to the workspace" min:"1"`
}

// ViewImage returns the tool view_image.
func ViewImage() tool.Tool {
	return tool.Typed[viewArgs]{
		Spec: tool.Spec{
			Name: "view_image", Title: "View an image", Description: words(viewImageWords, "max_side", output.MaxImageSide),
			ArgAliases: map[string][]string{"path": {"file_path", "file", "filename", "image"}},
			Tags:       []string{"fs", "media"}, Effects: tool.Read, Concurrency: tool.Safe, Idempotent: true,
		},
		Handle: viewImage,
		Assess: func(_ context.Context, in viewArgs) (tool.Act, error) {
			return tool.Act{Effects: tool.Read, Reads: []string{in.Path}, Summary: "view " + tool.Clip(in.Path)}, nil
		},
	}.Tool()
}

func viewImage(ctx context.Context, _ *tool.Call, in viewArgs) (*tool.Result, error) {
	w := workspace.From(ctx)
	f, err := w.ReadFile(ctx, in.Path, maxImageFile)
	if errors.Is(err, workspace.ErrTooLarge) {
		return nil, tool.Failf("%s is larger than %s, which is the most that is shown", tool.Clip(in.Path), sizeOf(maxImageFile))
	}
	if err != nil {
		return nil, pathError(w, in.Path, err)
	}
	s, err := pictureOf(f, in.Path)
	if err != nil {
		return nil, err
	}
	return &tool.Result{OK: true, Text: s.text, Media: s.media}, nil
}

// notImage names what a file is that cannot be shown, and what to do
// instead.
func notImage(name string, data []byte, err error) error {
	if !errors.Is(err, output.ErrNotImage) {
		return tool.Failf("%s cannot be shown: %w", tool.Clip(name), err)
	}
	if len(data) == 0 {
		return tool.Failf("%s is empty; there is no picture in it", tool.Clip(name))
	}
	kind := textfile.Sniff(data, true)
	advice := "only PNG, JPEG, GIF and WebP are shown"
	if kind.What == "text" {
		advice = "read_file reads it"
	}
	return tool.Failf("%s is no picture that can be shown: it holds %s; %s", tool.Clip(name), kind.What, advice)
}
