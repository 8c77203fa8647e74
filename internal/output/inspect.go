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

// InspectWhole is [Inspect] that also decodes the image to its end where that
// takes no more memory than is spent on one, so that a damaged body is found
// before anybody is shown it.
func InspectWhole(data []byte) (ImageInfo, error) {
	info, err := Inspect(data)
	if err != nil || len(data) > maxImageInput {
		return info, err
	}
	format, _ := sniff(data)
	c, err := format.config(bytes.NewReader(data))
	if err != nil || int64(c.Width)*int64(c.Height)*pixelBytes(c.ColorModel) > maxDecoded {
		return info, err
	}
	if _, err := format.decode(bytes.NewReader(data)); err != nil {
		return ImageInfo{}, fmt.Errorf("it is a damaged %s: %s", format.name, tool.Clip(err.Error()))
	}
	return info, nil
}
