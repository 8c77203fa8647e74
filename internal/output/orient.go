package output

import (
	"bytes"
	"encoding/binary"
	"image"

	"golang.org/x/image/draw"
)

// orientation returns how a JPEG is to be turned, as its EXIF block says: 1
// to 8, where 1 is upright. A camera writes the picture as the sensor saw
// it, and the block is lost when the picture is encoded anew.
func (f imageFormat) orientation(data []byte) int {
	if !f.lossy {
		return 1
	}
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		marker, size := data[i+1], int(binary.BigEndian.Uint16(data[i+2:]))
		if size < 2 || i+2+size > len(data) || marker == 0xda {
			break
		}
		if body := data[i+4 : i+2+size]; marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return exifOrientation(body[6:])
		}
		i += 2 + size
	}
	return 1
}

// exifOrientation reads the orientation from the first directory of a TIFF
// block. What does not fit counts as upright.
func exifOrientation(tiff []byte) int {
	const tag = 0x0112
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(tiff) < 8:
		return 1
	case bytes.HasPrefix(tiff, []byte("MM")):
		order = binary.BigEndian
	case !bytes.HasPrefix(tiff, []byte("II")):
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for n := int(order.Uint16(tiff[at:])); n > 0 && len(entries) >= 12; n-- {
		if order.Uint16(entries) == tag {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// turn returns img upright, given its EXIF orientation.
func turn(img image.Image, orientation int) image.Image {
	if orientation == 1 {
		return img
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	flat, up := image.NewRGBA(image.Rect(0, 0, w, h)), image.NewRGBA(size)
	draw.Draw(flat, flat.Bounds(), img, b.Min, draw.Src)
	for y := range h {
		for x := range w {
			tx, ty := turned(x, y, w, h, orientation)
			copy(up.Pix[up.PixOffset(tx, ty):][:4], flat.Pix[flat.PixOffset(x, y):])
		}
	}
	return up
}

// turned returns where the pixel at x, y of a w × h picture belongs.
func turned(x, y, w, h, orientation int) (int, int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	case 8:
		return y, w - 1 - x
	}
	return x, y
}
