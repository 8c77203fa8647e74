package memory

import (
	"context"
	"errors"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/internal/tools/raw"
	"github.com/handrail-tools/handrail/tool"
)

// Content runs in the place of recall and returns a whole result of at most
// limit bytes, its media included: cleaned and redacted as recall shows it,
// and not cut. The call names an id and nothing else.
func Content(ctx context.Context, call *tool.Call, limit int64) (*tool.Result, error) {
	var in struct {
		ID string `json:"id"`
	}
	if err := raw.Args(call, &in); err != nil {
		return nil, err
	}
	record, err := store.ReaderFrom(ctx).Result(ctx, in.ID)
	if errors.Is(err, store.ErrNotFound) {
		e := tool.Failf("there is no result %s that this session can read, or it is no longer kept", tool.Clip(in.ID))
		e.Err = err
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	size := record.Size
	for _, m := range record.Media {
		size += m.Size
	}
	if size > limit {
		return nil, raw.TooLarge("the result "+in.ID, size, limit, "The tool recall shows a part of it.")
	}
	content, err := record.Text()
	if err != nil {
		return nil, tool.Failf("the result %s can no longer be read: %w", in.ID, err)
	}
	defer func() { _ = content.Close() }()
	text, err := content.Window(0, content.Size)
	if err != nil {
		return nil, err
	}
	r := tool.Text(output.Prepare(text, record.Verbatim, output.RedactorFrom(ctx)).Text)
	if r.Media, err = attachments(record, in.ID); err != nil {
		return nil, err
	}
	return r, nil
}
