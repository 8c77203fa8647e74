package mcp

import (
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// contentURI is the address of content that came with a result and has no
// other.
const contentURI = "handrail://content"

// The kinds of content that have a type of their own.
const kindImage, kindAudio = "image", "audio"

// kindOf is the kind that a media type asks for; "" is a resource.
func kindOf(mime string) string {
	for _, kind := range [...]string{kindImage, kindAudio} {
		if strings.HasPrefix(mime, kind+"/") {
			return kind
		}
	}
	return ""
}

// media turns content that is not text into the kind that its type asks for.
func media(m tool.Media) mcp.Content {
	switch kindOf(m.MIME) {
	case kindImage:
		return &mcp.ImageContent{MIMEType: m.MIME, Data: m.Data}
	case kindAudio:
		return &mcp.AudioContent{MIMEType: m.MIME, Data: m.Data}
	default:
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: contentURI, MIMEType: m.MIME, Blob: m.Data}}
	}
}

// linkTo is the link to a file of the workspace that is for the person.
func linkTo(path string) *mcp.ResourceLink {
	return &mcp.ResourceLink{URI: uriOf(handrail.Resource{Path: path}), Name: path, MIMEType: guessMIME(path)}
}
