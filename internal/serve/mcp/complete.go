package mcp

import (
	"context"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxValues is how many completions one answer has: what the protocol allows.
const maxValues = 100

// complete answers what a person may be about to write into a template. It
// never asks anybody: where the list would need a question, there is none.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref, name, begun := req.Params.Ref, req.Params.Argument.Name, req.Params.Argument.Value
	if ref.Type == "ref/prompt" {
		return nil, invalid("the prompt %q has no argument %q", cut(ref.Name), cut(name))
	}
	i := slices.IndexFunc(templates, func(t template) bool { return t.URITemplate == ref.URI && s.serving().HasResource(t.kind) })
	if i < 0 || !strings.Contains(ref.URI, "{"+name+"}") && !strings.Contains(ref.URI, "{+"+name+"}") {
		return nil, invalid("no template %q with a variable %q is listed", cut(ref.URI), cut(name))
	}
	values, more, err := s.valuesFor(ctx, templates[i].kind, name, begun, req.Params.Context)
	if err != nil {
		return nil, s.told(ctx, "completing a template", err)
	}
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}, HasMore: more}}
	for _, v := range values {
		if !strings.HasPrefix(v, begun) {
			continue
		}
		if len(out.Completion.Values) == maxValues {
			out.Completion.HasMore = true
			break
		}
		out.Completion.Values = append(out.Completion.Values, v)
	}
	return out, nil
}

// valuesFor returns what a variable of a template may be; more says that
// there are others that begin so.
func (s *Server) valuesFor(ctx context.Context, kind handrail.ResourceKind, name, begun string, known *mcp.CompleteContext) (values []string, more bool, err error) {
	switch {
	case kind == handrail.ResourceResult:
		return s.serving().ResultIDs(begun), false, nil
	case name == "side":
		return []string{sideAfter, sideBefore}, false, nil
	case name == "id":
		values, err = s.serving().Changes(ctx)
		return values, false, err
	case kind == handrail.ResourceVersion:
		if known == nil || known.Arguments["id"] == "" {
			return nil, false, nil
		}
		values, err = s.serving().ChangedFiles(ctx, known.Arguments["id"])
		return values, false, err
	default:
		return s.serving().Files(ctx, handrail.FileQuery{Prefix: begun, Limit: maxValues, Quiet: true})
	}
}
