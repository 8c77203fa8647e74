package main

import (
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"os"
	"path/filepath"

	"github.com/handrail-tools/handrail/tool"
)

// savedMedia is one image of a result and the file that it was written to.
type savedMedia struct {
	MIME  string `json:"mime"`
	Bytes int    `json:"bytes"`
	File  string `json:"file,omitempty"`
}

func (m savedMedia) String() string {
	if m.File != "" {
		return fmt.Sprintf("[%s, %d bytes: %s]", m.MIME, m.Bytes, m.File)
	}
	return fmt.Sprintf("[%s, %d bytes; --save DIR writes it to a file]", m.MIME, m.Bytes)
}

// saveMedia describes the media of a result and, where dir is given, writes
// each to a new file in it. stem is what the files are called before the
// number. A file that exists is never overwritten.
func saveMedia(dir, stem string, media []tool.Media) ([]savedMedia, error) {
	saved := make([]savedMedia, 0, len(media))
	for _, m := range media {
		one := savedMedia{MIME: m.MIME, Bytes: len(m.Data)}
		if dir != "" {
			name, err := writeNew(dir, stem, extension(m.MIME), m.Data)
			if err != nil {
				return nil, fmt.Errorf("saving an image: %w", err)
			}
			one.File = name
		}
		saved = append(saved, one)
	}
	return saved, nil
}

// writeNew writes data to the first of stem-1, stem-2, … that does not
// exist.
func writeNew(dir, stem, ext string, data []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf("%s-%d%s", stem, i, ext))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		return name, errors.Join(err, f.Close())
	}
}

func extension(mimeType string) string {
	switch mimeType {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	if list, err := mime.ExtensionsByType(mimeType); err == nil && len(list) > 0 {
		return list[0]
	}
	return ".bin"
}
