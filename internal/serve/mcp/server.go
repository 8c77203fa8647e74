// Package mcp serves a Handrail session to clients of the Model Context
// Protocol. It lists what the session shows and passes each call to the
// session as it came; it decides nothing itself. What the tools show to a
// model a host can have as it is, as a resource, under the same rules.
//
// A result that was cut has no link to the whole of it beside the words that
// say how to go on: of the clients that were measured one drops such links
// and one shows their JSON to the model, while every model reads the words. A
// person finds the result in the list of resources.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/serve/mcp/roundtrip"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options are the parts of a server that are not the session's.
type Options struct {
	// Version is what the server says of itself.
	Version string
	// Instructions are for the client's model. "" sends none.
	Instructions string
	// Roots lets clients choose their workspace. nil does not.
	Roots *Roots
	// Logger receives protocol trouble. nil discards.
	Logger *slog.Logger
}

// implementation is what the server says of itself.
func (o Options) implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "handrail", Title: "Handrail", Version: o.Version}
}

// Server shows one session to one client at a time.
type Server struct {
	session *handrail.Session // the operator's; calls go to the one that [Server.enter] gives
	sdk     *mcp.Server
	logger  *slog.Logger
	info    []byte // what the server says of itself, as JSON
	// patience is how long a client that has closed its side may wait for
	// its answers.
	patience time.Duration
	// stuck is how long one write to a client may take. 0 means stuckTime.
	stuck time.Duration

	sealer  roundtrip.Sealer // of questions that stateless clients bring back
	homes   homes
	roots   *Roots // nil: the workspace is the operator's
	rooting rootsState

	mu    sync.Mutex
	shown map[string]bool // the names that the SDK lists
}

const callMethod = "tools/call"

// New returns a server for the session. The session outlives it.
func New(session *handrail.Session, o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	info, err := json.Marshal(o.implementation())
	if err != nil {
		return nil, err
	}
	s := &Server{session: session, info: info, logger: o.Logger, roots: o.Roots, patience: drainGrace, shown: map[string]bool{}}
	s.homes.own = &home{session: session}
	s.homes.current = s.homes.own
	s.homes.over = make(chan struct{})
	s.rooting.wait = rootsTime
	s.rooting.ctx = context.Background()
	s.sdk = mcp.NewServer(o.implementation(), s.options(o))
	s.sdk.AddReceivingMiddleware(s.intercept, s.serveResources)
	s.addPrompts()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) serve(ctx context.Context, t mcp.Transport) error {
	defer s.begin()()
	err := s.run(ctx, t)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil // the client went away, which is how a session ends
	}
	return err
}

// begin readies the server for one client. end lets go of all that was opened
// for it.
func (s *Server) begin() (end func()) {
	stop := s.watch(s.session)
	ctx, cancel := context.WithCancel(context.Background())
	s.rooting.mu.Lock()
	s.rooting.ctx, s.rooting.state, s.rooting.why, s.rooting.changed, s.rooting.waiting = ctx, rootsUnknown, "", false, nil
	s.rooting.mu.Unlock()
	return func() {
		stop()
		s.rooting.mu.Lock()
		cancel() // under the lock, so that no question begins after it
		s.rooting.mu.Unlock()
		s.rooting.asking.Wait()
		s.closeHomes()
	}
}

// watch keeps the list in line with the session until stop is called.
func (s *Server) watch(session *handrail.Session) (stop func()) {
	return session.Subscribe(func() {
		// A list that cannot be shown was refused at registration already.
		_ = s.refresh()
	})
}

// refresh brings the SDK's list in line with the session's. The SDK tells
// its clients of a change.
func (s *Server) refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stale := s.shown
	s.shown = map[string]bool{}
	for _, spec := range s.serving().Specs() {
		declared, err := declare(spec)
		if err != nil {
			return fmt.Errorf("listing %s: %w", spec.Name, err)
		}
		s.sdk.AddTool(declared, s.call)
		s.shown[spec.Name] = true
		delete(stale, spec.Name)
	}
	for name := range stale {
		s.sdk.RemoveTools(name)
	}
	return nil
}

// declare turns a spec into its wire form. Annotations are derived from the
// declared effects, so they cannot disagree with what is enforced.
func declare(spec handrail.Spec) (*mcp.Tool, error) {
	effects := spec.Effects.Declared()
	destructive := !spec.Additive
	open := effects&(tool.Exec|tool.Network|tool.Message|tool.Delegate) != 0
	t := &mcp.Tool{
		Name: spec.Name, Title: spec.Title, Description: spec.Description, InputSchema: spec.Input,
		Annotations: &mcp.ToolAnnotations{
			Title:          spec.Title,
			ReadOnlyHint:   effects.Within(tool.Read | tool.Network),
			IdempotentHint: spec.Idempotent,
			OpenWorldHint:  &open,
		},
		// Claude Code cuts results at a size of its own unless the tool
		// names one; ours are bounded already.
		Meta: mcp.Meta{"anthropic/maxResultSizeChars": spec.OutputLimit()},
	}
	if !t.Annotations.ReadOnlyHint {
		t.Annotations.DestructiveHint = &destructive
	}
	if spec.Output != nil {
		t.OutputSchema = spec.Output
	}
	if !json.Valid(spec.Input) {
		return nil, fmt.Errorf("the input schema is not valid JSON")
	}
	return t, nil
}

// cacheable says how long a result holds. Everything is private: what is
// shown depends on what the operator allows this client. Nothing holds: the
// list changes when the session's rules do, and a client that kept it would
// see what it may not call.
func cacheable(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
	c.CacheScope, c.TTLMs = cacheScope, cacheTTL
}

const (
	cacheScope = "private"
	cacheTTL   = 0 // in milliseconds
)

// calledName is the context's key for the name that a call came with.
type calledName struct{}

// intercept passes every tools/call to the session, also one that names an
// alias or no tool at all, which the SDK would refuse by itself. Such a call
// goes under the name of a listed tool, since only the SDK's own way gives
// the result what its revision asks for.
func (s *Server) intercept(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if opening, ok := req.(*mcp.ServerRequest[*mcp.InitializeParams]); ok {
			inSession(opening.Params)
		}
		if err := s.beforeRequest(ctx, method, req); err != nil {
			return nil, err
		}
		if method == "tools/list" {
			time.AfterFunc(warmAfter, s.serving().Warm)
		}
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || method != callMethod {
			return next(ctx, method, req)
		}
		carrier := s.carrier(call.Params.Name)
		switch carrier {
		case call.Params.Name:
			return next(ctx, method, req)
		case "":
			return s.call(ctx, call)
		}
		params := *call.Params
		params.Name = carrier
		ctx = context.WithValue(ctx, calledName{}, call.Params.Name)
		return next(ctx, method, &mcp.CallToolRequest{Session: call.Session, Params: &params, Extra: call.Extra})
	}
}

// warmAfter is how long after a list the fence of commands is built: a client
// that lists in order to call at once is not to share its processor with that.
const warmAfter = 200 * time.Millisecond

// inSession makes of the revision that a client opens a session for one that
// has sessions: it is answered with the newest of those, but what it had asked
// for would be taken for the one that it speaks.
func inSession(p *mcp.InitializeParams) {
	if p != nil && p.ProtocolVersion >= modern {
		p.ProtocolVersion = newestInSession
	}
}

// newestInSession is the newest revision that has sessions.
const newestInSession = "2025-11-25"

// carrier returns the name itself if the SDK lists it, or else one that it
// does list.
func (s *Server) carrier(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown[name] {
		return name
	}
	for listed := range s.shown {
		return listed
	}
	return ""
}

// call runs one call. ctx ends when the client cancels or goes away.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := handrail.Call{Tool: req.Params.Name, Args: req.Params.Arguments}
	if name, ok := ctx.Value(calledName{}).(string); ok {
		c.Tool = name
	}
	ctx, round, err := s.askerOf(ctx, req, req.Session,
		attempt{method: callMethod, name: c.Tool, args: c.Args, state: req.Params.RequestState}, req.Params.InputResponses)
	if err != nil {
		return nil, err
	}
	if token := req.Params.GetProgressToken(); token != nil {
		r := newReporter(func(p tool.Progress) {
			// A client that cannot take a report loses only the report.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Message: p.Message, Progress: p.Done, Total: p.Total,
			})
		})
		defer r.stop()
		c.Progress = r.report
	}
	h := s.enter()
	round.in(h)
	defer s.leave(h)
	r := s.explain(h.session.Run(ctx, c)[0], req.Session)
	if form, state := round.question(r.Code); form != nil {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{approvalKey: form}, RequestState: state}, nil
	}
	s.report(ctx, req.Session, c.Tool, r)
	if r.Code == tool.CodeUnknownTool {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: r.Text}
	}
	return wire(r), nil
}

// The keys of what a host may want to know beside a result.
const (
	metaCode    = "handrail/code"
	metaResult  = "handrail/result"
	metaChanged = "handrail/changed"
)

// wire turns a result into its wire form.
func wire(r *tool.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: !r.OK, Content: []mcp.Content{}}
	if r.Text != "" || len(r.Media) == 0 {
		out.Content = append(out.Content, &mcp.TextContent{Text: r.Text})
	}
	for _, m := range r.Media {
		out.Content = append(out.Content, media(m))
	}
	for _, path := range r.Deliver {
		out.Content = append(out.Content, linkTo(path))
	}
	if r.Structured != nil {
		out.StructuredContent = r.Structured
	}
	meta := mcp.Meta{}
	if r.Code != "" {
		meta[metaCode] = string(r.Code)
	}
	if r.ID != "" {
		meta[metaResult] = r.ID
	}
	if len(r.Changed) > 0 {
		meta[metaChanged] = r.Changed
	}
	if len(meta) > 0 {
		out.Meta = meta
	}
	return out
}
