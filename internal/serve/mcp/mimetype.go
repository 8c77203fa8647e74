package mcp

import (
	"cmp"
	"net/http"
	"path"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
)

// guessMIME is the type of a file that was not looked into, or "". The table
// is our own, since that of the system differs from machine to machine.
func guessMIME(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".gif", ".jpeg", ".png", ".webp":
		return "image/" + ext[1:]
	case ".jpg":
		return "image/jpeg"
	case ".mp3":
		return "audio/mpeg"
	case ".mp4":
		return "video/mp4"
	case ".wav":
		return "audio/wav"
	case ".pdf", ".zip":
		return "application/" + ext[1:]
	default:
		return knownText(ext)
	}
}

// knownText is the type of a text that clients treat otherwise than plain
// text, by the end of its name, or "".
func knownText(ext string) string {
	switch ext {
	case ".css", ".csv":
		return "text/" + ext[1:]
	case ".htm", ".html":
		return "text/html"
	case ".js", ".mjs":
		return "text/javascript"
	case ".md", ".markdown":
		return "text/markdown"
	case ".diff", ".patch":
		return "text/x-diff"
	case ".json", ".toml", ".xml", ".yaml":
		return "application/" + ext[1:]
	case ".yml":
		return "application/yaml"
	case ".svg":
		return "image/svg+xml"
	default:
		return ""
	}
}

// textMIME is the type of a text.
func textMIME(r handrail.Resource) string {
	return cmp.Or(knownText(strings.ToLower(path.Ext(r.Path))), "text/plain")
}

// mimeOf is the type of a medium: its own, or what its bytes look like where
// nothing is known of it.
func mimeOf(m tool.Media) string {
	const unknown = "application/octet-stream"
	if m.MIME != unknown {
		return m.MIME
	}
	mime, _, _ := strings.Cut(http.DetectContentType(m.Data), ";")
	if strings.HasPrefix(mime, "text/") { // it is none
		return unknown
	}
	return mime
}
