package output

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/handrail-tools/handrail/tool"
)

// ErrNotImage says that data is no image of a kind that can be shown.
var ErrNotImage = errors.New("it is no PNG, JPEG, GIF or WebP")

// ImageInfo says what an image is.
type ImageInfo struct {
	// Name is the format's name for a person, MIME its media type.
	Name, MIME string
	// Width and Height are in pixels, before any scaling.
	Width, Height int
}

// Inspect tells what an image is by its content, without decoding it. The
// error is [ErrNotImage], or says what is damaged.
func Inspect(data []byte) (ImageInfo, error) {
	format, ok := sniff(data)
	if !ok {
		return ImageInfo{}, ErrNotImage
	}
	c, err := format.config(bytes.NewReader(data))
	if err != nil {
		return ImageInfo{}, fmt.Errorf("it is a damaged %s: %s", format.name, tool.Clip(err.Error()))
	}
	return ImageInfo{Name: format.name, MIME: format.mime, Width: c.Width, Height: c.Height}, nil
}
