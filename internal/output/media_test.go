package output

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/tool"
)

func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := encode(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// webpOf returns a lossless WebP of one colour: all its codes have a single
// symbol, so the pixels take no bits and only the header says the size.
func webpOf(w, h int) []byte {
	data := []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")
	binary.LittleEndian.PutUint32(data[21:], uint32(w-1)|uint32(h-1)<<14|1<<28)
	return data
}

// withEXIF puts an orientation into a JPEG.
func withEXIF(data []byte, orientation byte, order string) []byte {
	tiff := "II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(orientation) + "\x00\x00\x00\x00\x00\x00\x00"
	if order == "MM" {
		tiff = "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(orientation) + "\x00\x00\x00\x00\x00\x00"
	}
	body := "Exif\x00\x00" + tiff
	segment := append([]byte{0xff, 0xe1, 0, byte(len(body) + 2)}, body...)
	return append(append(append([]byte{}, data[:2]...), segment...), data[2:]...)
}

func TestFitMediaPassesWhatIsWithinTheLimits(t *testing.T) {
	gifData := encoded(t, func(b *bytes.Buffer) error {
		return gif.Encode(b, image.NewPaletted(image.Rect(0, 0, 5, 5), color.Palette{color.White}), nil)
	})
	jpegData := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, image.NewGray(image.Rect(0, 0, 5, 5)), nil) })
	for _, c := range []struct {
		name, called, mime string
		data               []byte
	}{
		{"png", "image/png", "image/png", pngOf(t, MaxImageSide, 4)},
		{"jpeg", "image/jpeg", "image/jpeg", jpegData},
		{"gif", "image/gif", "image/gif", gifData},
		{"webp", "image/webp", "image/webp", webpOf(30, 20)},
		{"a JPEG that is called PNG", "image/png", "image/jpeg", jpegData},
		{"an image that is called text", "text/plain", "image/png", pngOf(t, 3, 3)},
		{"no image", "audio/wav", "audio/wav", []byte("RIFF....WAVE")},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, notes := FitMedia(t.Context(), []tool.Media{{MIME: c.called, Data: c.data}})
			if len(out) != 1 || out[0].MIME != c.mime || !bytes.Equal(out[0].Data, c.data) || len(notes) != 0 {
				t.Errorf("%d shown, notes %q", len(out), notes)
			}
		})
	}
}

func TestF190_EveryToolsImagesAreScaled(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		w, h int
		mime string
		note string
	}{
		{"png", pngOf(t, 1700, 1700), 1568, 1568, "image/png", "was scaled from 1700 × 1700 to 1568 × 1568 pixels"},
		{"wide", pngOf(t, 3136, 100), 1568, 50, "image/png", "was scaled from 3136 × 100 to 1568 × 50 pixels"},
		{"thin", pngOf(t, 1, 9000), 1, 1568, "image/png", "was scaled from 1 × 9000 to 1 × 1568 pixels"},
		{"webp", webpOf(2000, 1000), 1568, 784, "image/png", "was scaled from 2000 × 1000 to 1568 × 784 pixels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, notes := FitMedia(t.Context(), []tool.Media{{MIME: "image/png", Data: c.data}})
			if len(out) != 1 || len(notes) != 1 || notes[0] != "Attachment 1 "+c.note+"." {
				t.Fatalf("%d shown, notes %q", len(out), notes)
			}
			cfg, format, err := image.DecodeConfig(bytes.NewReader(out[0].Data))
			if err != nil || cfg.Width != c.w || cfg.Height != c.h || "image/"+format != c.mime || out[0].MIME != c.mime {
				t.Errorf("%d × %d %s, called %s: %v", cfg.Width, cfg.Height, format, out[0].MIME, err)
			}
		})
	}
	t.Run("and counted", func(t *testing.T) {
		many := make([]tool.Media, 25)
		for i := range many {
			many[i] = tool.Media{MIME: "image/png", Data: pngOf(t, 9, 9)}
		}
		out, notes := FitMedia(t.Context(), many)
		if len(out) != MaxMedia || len(notes) != 1 || notes[0] != "Attachments 21 to 25 are not shown: a result carries at most 20." {
			t.Errorf("%d shown, notes %q", len(out), notes)
		}
	})
}

func TestF191_TheMediaOfAResultAreBoundedTogether(t *testing.T) {
	var many []tool.Media
	for range 10 {
		many = append(many, tool.Media{MIME: "application/pdf", Data: make([]byte, 1_500_000)})
	}
	out, notes := FitMedia(t.Context(), many)
	if len(out) != 5 || len(notes) != 1 || notes[0] != "Attachments 6 to 10 are not shown: the attachments of a result weigh at most 8000000 bytes together." {
		t.Errorf("%d shown, notes %q", len(out), notes)
	}
}

func TestFitMediaSaysWhatCannotBeShown(t *testing.T) {
	bomb := pngOf(t, 3, 3)
	binary.BigEndian.PutUint32(bomb[16:], 60_000)
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	for _, c := range []struct {
		name, mime string
		data       []byte
		note       string
	}{
		{"a bomb", "image/png", bomb, "Attachment 1 is not shown: its 60000 × 60000 pixels would take 13732 MB to decode, and at most 160 are spent."},
		{"not an image", "image/png", []byte("<html>"), "Attachment 1 is not shown: it is called image/png, but its content is no PNG, JPEG, GIF or WebP."},
		{"a vector image", "image/svg+xml", []byte("<svg/>"), "Attachment 1 is not shown: it is called image/svg+xml, but its content is no PNG, JPEG, GIF or WebP."},
		{"nothing", "image/png", nil, "Attachment 1 is not shown: it is called image/png, but its content is no PNG, JPEG, GIF or WebP."},
		{"damaged head", "image/png", pngOf(t, 3, 3)[:20], "Attachment 1 is not shown: it is a damaged PNG: unexpected EOF."},
		{"damaged body", "image/png", pngOf(t, 3000, 30)[:60], "Attachment 1 is not shown: it is a damaged PNG: unexpected EOF."},
		{"no pixels", "image/gif", []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "Attachment 1 is not shown: it is a GIF of 0 × 0 pixels."},
		{"heavy", "video/mp4", make([]byte, MaxMediaBytes+1), "Attachment 1 is not shown: it has 3750001 bytes, and at most 3750000 can be shown."},
		{"a heavy image", "image/png", append(pngOf(t, 3, 3), make([]byte, maxImageInput)...)[:maxImageInput+1], "Attachment 1 is not shown: it has 67108865 bytes, and an image over 67108864 is not decoded."},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, notes := FitMedia(t.Context(), []tool.Media{{MIME: c.mime, Data: c.data}, {MIME: "image/png", Data: pngOf(t, 1, 1)}})
			if len(out) != 1 || len(notes) != 1 || notes[0] != c.note {
				t.Errorf("%d shown, notes %q\nwant %q", len(out), notes, c.note)
			}
		})
	}
	t.Run("the rest of a cancelled call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		out, notes := FitMedia(ctx, []tool.Media{{MIME: "image/png", Data: pngOf(t, 1, 1)}})
		if len(out) != 0 || len(notes) != 1 || notes[0] != "Attachment 1 is not shown: the call was cancelled." {
			t.Errorf("%d shown, notes %q", len(out), notes)
		}
	})
}

func TestFitMediaCompressesWhatIsHeavy(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 1000, 960))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rng.Uint32())
	}
	quick := png.Encoder{CompressionLevel: png.NoCompression}
	data := encoded(t, func(b *bytes.Buffer) error { return quick.Encode(b, noise) })
	out, notes := FitMedia(t.Context(), []tool.Media{{MIME: "image/png", Data: data}})
	if len(out) != 1 || out[0].MIME != "image/jpeg" || len(out[0].Data) > MaxMediaBytes {
		t.Fatalf("%d shown, notes %q", len(out), notes)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "was compressed from ") {
		t.Errorf("notes %q", notes)
	}
}

func TestFitMediaKeepsAPhotoUpright(t *testing.T) {
	// The top left quarter is black; where it is afterwards shows the turn.
	img := image.NewGray(image.Rect(0, 0, 1600, 80))
	for i := range img.Pix {
		if img.Pix[i] = 0xff; i%1600 < 800 && i/1600 < 40 {
			img.Pix[i] = 0
		}
	}
	data := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) })
	corners := map[byte]string{1: "top left", 2: "top right", 3: "bottom right", 4: "bottom left", 5: "top left", 6: "top right", 7: "bottom right", 8: "bottom left"}
	for orientation, want := range corners {
		for _, order := range []string{"II", "MM"} {
			out, _ := FitMedia(t.Context(), []tool.Media{{Data: withEXIF(data, orientation, order)}})
			if len(out) != 1 {
				t.Fatal("not shown")
			}
			got, err := jpeg.Decode(bytes.NewReader(out[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			b := got.Bounds()
			if tall := b.Dy() > b.Dx(); tall != (orientation >= 5) {
				t.Errorf("orientation %d: %v", orientation, b)
			}
			dark := func(x, y int) bool { r, _, _, _ := got.At(x, y).RGBA(); return r < 0x8000 }
			for corner, at := range map[string][2]int{"top left": {9, 9}, "top right": {b.Dx() - 9, 9}, "bottom left": {9, b.Dy() - 9}, "bottom right": {b.Dx() - 9, b.Dy() - 9}} {
				if dark(at[0], at[1]) != (corner == want) {
					t.Errorf("orientation %d: the %s corner is wrong", orientation, corner)
				}
			}
		}
	}
}

func TestOrientationOfWhatDoesNotFit(t *testing.T) {
	for _, tiff := range []string{"", "II*\x00", "XX*\x00\x08\x00\x00\x00\x01\x00", "II*\x00\xff\xff\xff\xff", "II*\x00\x08\x00\x00\x00\xff\xff\x12\x01"} {
		if got := exifOrientation([]byte(tiff)); got != 1 {
			t.Errorf("%q counts as orientation %d", tiff, got)
		}
	}
}
