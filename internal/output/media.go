package output

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/handrail-tools/handrail/tool"
)

const (
	// MaxImageSide is the longest side of an image for a model, in pixels.
	// Anthropic scales anything longer down to it, and refuses over 2,000
	// where a request has more than 20 images.
	MaxImageSide = 1568

	// MaxMediaBytes is the most that one image or other medium may weigh, in
	// bytes before encoding. Anthropic takes 5 MB of base64, which is 3.75
	// MB of content.
	MaxMediaBytes = 3_750_000

	// MaxMedia is how many images and other media one result may carry.
	// With more, Anthropic's limit on dimensions falls.
	MaxMedia = 20

	// MaxMediaTotal is the most that the media of one result may weigh
	// together, in bytes before encoding: a third of the 32 MB that a whole
	// request to Anthropic may have once it is encoded.
	MaxMediaTotal = 8_000_000

	// maxDecoded bounds the memory that one decoded image takes, in bytes.
	// A screen of 7,680 × 4,320 needs 133 MB.
	maxDecoded = 160 << 20

	// maxImageInput is the largest file that is decoded at all, in bytes.
	maxImageInput = 64 << 20
)

// FitMedia brings the media of a result within what the model providers
// take, whichever tool they came from. An image is judged by its content
// and not by its name; a large one is scaled down with its proportions kept.
// What cannot be shown is left out, and what was changed or left out is said
// in the notes, one sentence each.
func FitMedia(ctx context.Context, in []tool.Media) (out []tool.Media, notes []string) {
	total := 0
	for i, m := range in {
		if len(out) == MaxMedia {
			return out, append(notes, fmt.Sprintf("%s not shown: a result carries at most %d.", these(i+1, len(in)), MaxMedia))
		}
		if ctx.Err() != nil {
			return out, append(notes, fmt.Sprintf("%s not shown: the call was cancelled.", these(i+1, len(in))))
		}
		fit, note, err := fitOne(m)
		if err != nil {
			notes = append(notes, fmt.Sprintf("Attachment %d is not shown: %v.", i+1, err))
			continue
		}
		if total += len(fit.Data); total > MaxMediaTotal {
			return out, append(notes, fmt.Sprintf("%s not shown: the attachments of a result weigh at most %d bytes together.",
				these(i+1, len(in)), MaxMediaTotal))
		}
		if note != "" {
			notes = append(notes, fmt.Sprintf("Attachment %d %s.", i+1, note))
		}
		out = append(out, fit)
	}
	return out, notes
}

func these(from, to int) string {
	if from == to {
		return fmt.Sprintf("Attachment %d is", from)
	}
	return fmt.Sprintf("Attachments %d to %d are", from, to)
}

// fitOne brings one medium within the limits. The note says what changed.
func fitOne(m tool.Media) (fit tool.Media, note string, err error) {
	format, ok := sniff(m.Data)
	switch {
	case !ok && strings.HasPrefix(m.MIME, "image/"):
		return m, "", fmt.Errorf("it is called %s, but its content is no PNG, JPEG, GIF or WebP", tool.Clip(m.MIME))
	case !ok && len(m.Data) > MaxMediaBytes:
		return m, "", fmt.Errorf("it has %d bytes, and at most %d can be shown", len(m.Data), MaxMediaBytes)
	case !ok:
		return m, "", nil
	case len(m.Data) > maxImageInput:
		return m, "", fmt.Errorf("it has %d bytes, and an image over %d is not decoded", len(m.Data), maxImageInput)
	}
	cfg, err := format.config(bytes.NewReader(m.Data))
	if err != nil {
		return m, "", fmt.Errorf("it is a damaged %s: %s", format.name, tool.Clip(err.Error()))
	}
	if cfg.Width <= 0 || cfg.Height <= 0 {
		return m, "", fmt.Errorf("it is a %s of %d × %d pixels", format.name, cfg.Width, cfg.Height)
	}
	m.MIME = format.mime
	if cfg.Width <= MaxImageSide && cfg.Height <= MaxImageSide && len(m.Data) <= MaxMediaBytes {
		return m, "", nil
	}
	if need := int64(cfg.Width) * int64(cfg.Height) * pixelBytes(cfg.ColorModel); need > maxDecoded {
		return m, "", fmt.Errorf("its %d × %d pixels would take %d MB to decode, and at most %d are spent",
			cfg.Width, cfg.Height, need>>20, maxDecoded>>20)
	}
	img, err := format.decode(bytes.NewReader(m.Data))
	if err != nil {
		return m, "", fmt.Errorf("it is a damaged %s: %s", format.name, tool.Clip(err.Error()))
	}
	heavy := len(m.Data)
	scaled := turn(scale(img), format.orientation(m.Data))
	if m.Data, m.MIME, err = encode(scaled, format.lossy); err != nil {
		return m, "", err
	}
	if max(cfg.Width, cfg.Height) <= MaxImageSide {
		return m, fmt.Sprintf("was compressed from %d to %d bytes", heavy, len(m.Data)), nil
	}
	size := scaled.Bounds()
	return m, fmt.Sprintf("was scaled from %d × %d to %d × %d pixels", cfg.Width, cfg.Height, size.Dx(), size.Dy()), nil
}

// pixelBytes is how much memory a decoded pixel of that model takes.
func pixelBytes(m color.Model) int64 {
	switch m {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model, color.Alpha16Model:
		return 8
	}
	return 4
}

// imageFormat is one of the formats that every model provider takes.
type imageFormat struct {
	name, mime, magic string
	// lossy says that re-encoding as JPEG loses nothing that was there.
	lossy  bool
	config func(r *bytes.Reader) (image.Config, error)
	decode func(r *bytes.Reader) (image.Image, error)
}

var imageFormats = [...]imageFormat{
	{"PNG", "image/png", "\x89PNG\r\n\x1a\n", false,
		func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) },
		func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }},
	{"JPEG", "image/jpeg", "\xff\xd8\xff", true,
		func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) },
		func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }},
	{"GIF", "image/gif", "GIF87a", false, gifConfig, gifDecode},
	{"GIF", "image/gif", "GIF89a", false, gifConfig, gifDecode},
	{"WebP", "image/webp", "RIFF????WEBP", false,
		func(r *bytes.Reader) (image.Config, error) { return webp.DecodeConfig(r) },
		func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) }},
}

func gifConfig(r *bytes.Reader) (image.Config, error) { return gif.DecodeConfig(r) }

// gifDecode decodes the first frame, which is all that the providers look at.
func gifDecode(r *bytes.Reader) (image.Image, error) { return gif.Decode(r) }

// sniff tells an image's format by its content.
func sniff(data []byte) (imageFormat, bool) {
	for _, f := range imageFormats {
		if len(data) < len(f.magic) {
			continue
		}
		same := true
		for i := range len(f.magic) {
			same = same && (f.magic[i] == '?' || f.magic[i] == data[i])
		}
		if same {
			return f, true
		}
	}
	return imageFormat{}, false
}

// scale returns img with its longest side at most [MaxImageSide].
func scale(img image.Image) image.Image {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	longest := max(w, h)
	if longest <= MaxImageSide {
		return img
	}
	w = max(1, (w*MaxImageSide+longest/2)/longest)
	h = max(1, (h*MaxImageSide+longest/2)/longest)
	// Only these types have a fast path.
	switch img.(type) {
	case *image.RGBA, *image.NRGBA, *image.Gray, *image.YCbCr:
	default:
		whole := image.NewRGBA(b)
		draw.Draw(whole, b, img, b.Min, draw.Src)
		img = whole
	}
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(small, small.Bounds(), img, b, draw.Src, nil)
	return small
}

// encode writes img as PNG, or as JPEG where it was lossy already or the PNG
// weighs too much.
func encode(img image.Image, lossy bool) (data []byte, mime string, err error) {
	var buf bytes.Buffer
	if !lossy {
		if err := png.Encode(&buf, img); err != nil {
			return nil, "", fmt.Errorf("encoding it failed: %w", err)
		}
		if buf.Len() <= MaxMediaBytes {
			return buf.Bytes(), "image/png", nil
		}
		img = flatten(img)
	}
	for _, quality := range [...]int{85, 60, 30} {
		buf.Reset()
		if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", fmt.Errorf("encoding it failed: %w", err)
		}
		if buf.Len() <= MaxMediaBytes {
			return buf.Bytes(), "image/jpeg", nil
		}
	}
	return nil, "", fmt.Errorf("it weighs over %d bytes even when scaled down", MaxMediaBytes)
}

// flatten lays img on white: JPEG has no transparency, and black would hide
// dark text.
func flatten(img image.Image) image.Image {
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Over)
	return flat
}
