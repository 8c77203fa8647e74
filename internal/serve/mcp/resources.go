package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// pageFiles is how many files one page of the list has. The first page
	// has the results as well, of which a session lists at most 100.
	pageFiles = 200
	// maxListed is how many files a list has in all. Some clients fetch every
	// page when they connect; what is beyond is found by completion.
	maxListed = 5000
	// codeNoResource is what revisions before 2026-07-28 answer for a
	// resource that is not there. Later ones forbid it.
	codeNoResource = -32002
)

// hasResources reports whether the session has any kind of resource.
func (s *Server) hasResources() bool {
	return slices.ContainsFunc(templates, func(t template) bool { return s.serving().HasResource(t.kind) })
}

// serveResources answers the requests about resources. The SDK's own answers
// are made for a list that is registered beforehand; ours is what is there
// when somebody asks.
func (s *Server) serveResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch r := req.(type) {
		case *mcp.ListResourcesRequest:
			list, err := s.listResources(ctx, r)
			return result(list, s.told(ctx, "listing resources", err))
		case *mcp.ListResourceTemplatesRequest:
			return result(s.listTemplates(r))
		case *mcp.ReadResourceRequest:
			return result(s.readResource(ctx, r))
		default:
			return next(ctx, method, req)
		}
	}
}

// told is an error as a client may hear it. What is wrong with the machine,
// and which files of it, is the operator's to know.
func (s *Server) told(ctx context.Context, doing string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: e.Text}
	}
	s.logger.Error(doing, "error", err)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: doing + " has failed; the server's log says why"}
}

// result keeps a nil result from becoming one that is not nil.
func result[R mcp.Result](r R, err error) (mcp.Result, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Server) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	var at position
	out := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
	cacheable(ctx, req, &out.Cacheable)
	if req.Params != nil && req.Params.Cursor != "" {
		var err error
		if at, err = parseCursor(req.Params.Cursor); err != nil {
			return nil, invalid("%s", err)
		}
	} else if err := s.addResults(ctx, out); err != nil {
		return nil, err
	}
	paths, more, err := s.serving().Files(ctx, handrail.FileQuery{After: at.after, Limit: min(pageFiles, maxListed-at.count)})
	if err != nil {
		// The results can be listed all the same.
		if e, ok := errors.AsType[*tool.Error](err); ok && out.Resources != nil && ctx.Err() == nil {
			out.Meta = mcp.Meta{metaNote: "files are not listed: " + e.Text}
			return out, nil
		}
		return nil, err
	}
	for _, path := range paths {
		out.Resources = append(out.Resources, &mcp.Resource{
			URI: uriOf(handrail.Resource{Path: path}), Name: path, MIMEType: guessMIME(path),
		})
	}
	at.count += len(paths)
	switch {
	case more && at.count < maxListed:
		at.after = paths[len(paths)-1]
		out.NextCursor = at.cursor()
	case more:
		out.Meta = mcp.Meta{metaNote: fmt.Sprintf("the first %d files are listed; completion of the template %s{+path} finds the others", maxListed, filesURI)}
	}
	return out, nil
}

func (s *Server) addResults(ctx context.Context, out *mcp.ListResourcesResult) error {
	results, err := s.serving().Results(ctx)
	for _, r := range results {
		out.Resources = append(out.Resources, &mcp.Resource{
			URI: uriOf(handrail.Resource{Kind: handrail.ResourceResult, ID: r.ID}), Name: r.ID, Title: "Result of " + r.Tool,
			MIMEType: "text/plain", Size: r.Size,
			Annotations: &mcp.Annotations{LastModified: r.Created.UTC().Format(time.RFC3339)},
		})
	}
	return err
}

// position is how far a list has been given. It names the last file and not
// a number, so that files which come and go between two pages move none of
// the others to another page.
type position struct {
	after string
	count int
}

// cursorMark begins what a cursor encodes.
const cursorMark = "files:"

func (p position) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorMark + strconv.Itoa(p.count) + ":" + p.after))
}

// parseCursor reads what [position.cursor] has made, and nothing else.
func parseCursor(cursor string) (p position, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	rest, ok := strings.CutPrefix(string(raw), cursorMark)
	count, after, found := strings.Cut(rest, ":")
	p.count, _ = strconv.Atoi(count)
	p.after = after
	if err != nil || !ok || !found || p.count <= 0 || p.count >= maxListed || !fs.ValidPath(after) || p.cursor() != cursor {
		return position{}, errors.New("this cursor is none that the list has given; ask without one for the first page")
	}
	return p, nil
}

// template is a form of addresses, which is there as long as its kind is.
type template struct {
	kind handrail.ResourceKind
	mcp.ResourceTemplate
}

var templates = []template{
	{handrail.ResourceFile, mcp.ResourceTemplate{URITemplate: filesURI + "{+path}", Name: "file", Title: "File",
		Description: "A file of the workspace as it is, by its path from the top of the workspace."}},
	{handrail.ResourceResult, mcp.ResourceTemplate{URITemplate: resultsURI + "{id}", Name: "result", Title: "Result",
		Description: "An earlier result of this session, whole, by the id that stands at its end."}},
	{handrail.ResourceLog, mcp.ResourceTemplate{URITemplate: logURI + "/{+path}", Name: "changes", Title: "Changes of a file", MIMEType: "text/plain",
		Description: "The newest changes of a file, or of all files in a folder, with their ids. Without a path: of the whole workspace."}},
	{handrail.ResourceChange, mcp.ResourceTemplate{URITemplate: changesURI + "{id}", Name: "change", Title: "Change", MIMEType: "text/plain",
		Description: "One change of the workspace: whose it is, and what it made different."}},
	{handrail.ResourceVersion, mcp.ResourceTemplate{URITemplate: changesURI + "{id}/{side}/{+path}", Name: "version", Title: "File at a change",
		Description: "A file as it was on one side of a change: before or after."}},
}

func (s *Server) listTemplates(req *mcp.ListResourceTemplatesRequest) (*mcp.ListResourceTemplatesResult, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, invalid("the list of templates has one page, so it has no cursor")
	}
	out := &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{}}
	cacheable(context.Background(), req, &out.Cacheable)
	for i := range templates {
		if s.serving().HasResource(templates[i].kind) {
			out.ResourceTemplates = append(out.ResourceTemplates, &templates[i].ResourceTemplate)
		}
	}
	return out, nil
}

func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*contents, error) {
	ctx, round, err := s.askerOf(ctx, req, req.Session,
		attempt{method: readMethod, name: req.Params.URI, state: req.Params.RequestState}, req.Params.InputResponses)
	if err != nil {
		return nil, err
	}
	return s.startRead(ctx, req.Params.URI, req.ProtocolVersion() >= modern, round)()
}

// startRead takes the place of a read in the session's queue. The function
// that it returns must be called; its errors are [*jsonrpc.Error]s, or those
// of ctx. What it returns may be the question that the round puts.
func (s *Server) startRead(ctx context.Context, uri string, modernEra bool, round *round) (wait func() (*contents, error)) {
	r, err := parseURI(uri)
	if err != nil {
		return func() (*contents, error) { return nil, noResource(uri, modernEra, err.Error()) }
	}
	h := s.enter()
	round.in(h)
	content := h.session.StartContent(ctx, r)
	return func() (*contents, error) {
		c, err := content()
		s.leave(h)
		if err != nil {
			if e, ok := errors.AsType[*tool.Error](err); ok {
				if form, state := round.question(e.Code); form != nil {
					return &contents{modern: true, form: form, state: state}, nil
				}
			}
			return nil, readError(uri, modernEra, err)
		}
		return &contents{uri: uri, resource: r, content: c, modern: modernEra}, nil
	}
}

// readError is the answer for a resource that is not had.
func readError(uri string, modernEra bool, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case errors.Is(err, handrail.ErrNoResource), ok && e.Code == tool.CodeUnknownTool:
		return noResource(uri, modernEra, err.Error())
	case !ok:
		return err
	}
	code := int64(jsonrpc.CodeInvalidParams)
	switch e.Code {
	case tool.CodeTimeout, tool.CodeCancelled, tool.CodePanicked:
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: e.Text, Data: errorData(uri, e.Code)}
}

func noResource(uri string, modernEra bool, why string) error {
	code := int64(codeNoResource)
	if modernEra {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: "Resource not found: " + tool.ClipText(why, tool.MaxErrorText), Data: errorData(uri, "")}
}

func errorData(uri string, code tool.Code) json.RawMessage {
	data, err := json.Marshal(struct {
		URI  string    `json:"uri"`
		Code tool.Code `json:"handrail/code,omitempty"`
	}{tool.ClipText(uri, maxURI), code})
	if err != nil {
		return nil // strings can be written
	}
	return data
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
