package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/jsondoc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// metaNote and metaNotes are the keys of what there is to say beside a list
// or a content.
const (
	metaNote  = "handrail/note"
	metaNotes = "handrail/notes"
)

// contents is the answer to resources/read. It writes itself: the SDK's own
// type cannot write an empty text, and would copy a long one once more.
type contents struct {
	mcp.ResultBase
	uri      string
	resource handrail.Resource
	content  handrail.Content
	modern   bool // the client speaks the revision with types of results
	// form, unless nil, is asked instead, with the state to bring back.
	form  *mcp.ElicitParams
	state string
}

// size is what the contents hold of memory, in bytes.
func (c *contents) size() int {
	return len(c.content.Text) + mediaSize(c.content.Media)
}

// liftInto takes what is long out of the contents, unless into is nil.
func (c *contents) liftInto(into *lifted) {
	if into == nil {
		return
	}
	if len(c.content.Text) >= liftFrom {
		c.content.Text = into.text(c.content.Text)
	}
	c.content.Media = slices.Clone(c.content.Media)
	for i, m := range c.content.Media {
		c.content.Media[i].MIME = mimeOf(m)
		if len(m.Data) >= liftFrom {
			c.content.Media[i].Data = into.data(m.Data)
		}
	}
}

// MarshalJSON writes the result.
func (c *contents) MarshalJSON() ([]byte, error) { return c.append(nil) }

// append appends the result.
func (c *contents) append(dst []byte) ([]byte, error) {
	meta := c.Meta
	if len(c.content.Notes) > 0 {
		meta = mcp.Meta{metaNotes: c.content.Notes}
		for k, v := range c.Meta {
			meta[k] = v
		}
	}
	size := len(c.content.Text) + len(c.content.Text)/16
	for _, m := range c.content.Media {
		size += base64.StdEncoding.EncodedLen(len(m.Data))
	}
	dst = append(slices.Grow(dst, size+1024), '{')
	switch {
	case c.form != nil:
		dst = append(dst, `"resultType":"input_required",`...)
	case c.modern:
		dst = fmt.Appendf(dst, `"resultType":"complete","ttlMs":%d,"cacheScope":%q,`, cacheTTL, cacheScope)
	}
	if len(meta) > 0 {
		text, err := json.Marshal(meta)
		if err != nil {
			return nil, err
		}
		dst = append(append(append(dst, `"_meta":`...), text...), ',')
	}
	if c.form != nil {
		return append(appendInputs(dst, c.form, c.state), '}'), nil
	}
	return append(c.appendParts(append(dst, `"contents":[`...)), "]}"...), nil
}

// appendParts appends the text, where it is the content or beside media, and
// the media.
func (c *contents) appendParts(dst []byte) []byte {
	if c.content.Text != "" || len(c.content.Media) == 0 {
		dst = c.appendHead(dst, textMIME(c.resource))
		dst = append(dst, `"text":`...)
		dst = append(jsondoc.AppendString(dst, c.content.Text), '}')
	}
	for i, m := range c.content.Media {
		if i > 0 || c.content.Text != "" {
			dst = append(dst, ',')
		}
		dst = c.appendHead(dst, mimeOf(m))
		dst = append(dst, `"blob":"`...)
		dst = append(base64.StdEncoding.AppendEncode(dst, m.Data), `"}`...)
	}
	return dst
}

func (c *contents) appendHead(dst []byte, mime string) []byte {
	dst = jsondoc.AppendString(append(dst, `{"uri":`...), c.uri)
	dst = jsondoc.AppendString(append(dst, `,"mimeType":`...), mime)
	return append(dst, ',')
}
