package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/handrail-tools/handrail"
	"github.com/handrail-tools/handrail/internal/plain"
	"github.com/handrail-tools/handrail/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// rootsTime is how long a client may take to say what its roots are.
	// Calls wait for it.
	rootsTime = 5 * time.Second
	// maxRoots is how many roots of a client are looked at. An editor has a
	// handful open.
	maxRoots = 64
	// maxReasons is how many refused roots are told of.
	maxReasons = 3
)

// Roots lets a client that names its roots choose the workspace: the first
// root that is a folder in one of the operator's becomes it, for that client
// alone. It is immutable and safe for concurrent use.
type Roots struct {
	allowed []string // without links
	closed  []string
	open    func(ctx context.Context, dir, beneath string) (*handrail.Session, error)
}

// NewRoots returns the rule for clients' roots: what lies in one of the
// allowed folders, which must exist, and not in one of the closed, which need
// not. open opens the session for a root; dir has no links, and beneath is
// the allowed folder in which the workspace must still lie when it is opened
// (see [handrail.WorkspaceOptions]).
func NewRoots(allowed, closed []string, open func(ctx context.Context, dir, beneath string) (*handrail.Session, error)) (*Roots, error) {
	real, err := realFolders(allowed)
	if err != nil {
		return nil, err
	}
	return &Roots{allowed: real, closed: closed, open: open}, nil
}

// tell puts into what a server says of itself what decides about the
// workspace.
func (r *Roots) tell(o *mcp.ServerOptions) {
	if r == nil {
		return
	}
	o.Instructions = strings.TrimSpace(o.Instructions + "\n" + rootsInstructions)
}

// rootsState is how far a server is with its client's roots.
type rootsState struct {
	ctx  context.Context // of the question; ends with the client
	wait time.Duration

	mu      sync.Mutex
	state   rootsPhase
	changed bool     // while the question was open
	waiting []func() // what came meanwhile, in order
	why     string   // why no root of the client's is the workspace; "" when one is
	asking  sync.WaitGroup
}

type rootsPhase uint8

const (
	rootsUnknown rootsPhase = iota
	rootsAsked
	rootsKnown
)

// whenRooted calls then, at once or when the client of the session has said
// what its roots are, in the order in which it was asked. It does not wait.
// ctx belongs to the client's request, by which it can be reached.
func (s *Server) whenRooted(ctx context.Context, client *mcp.ServerSession, then func()) {
	if s.roots == nil || !hasRoots(client) {
		then()
		return
	}
	st := &s.rooting
	st.mu.Lock()
	if st.state == rootsKnown {
		st.mu.Unlock()
		then()
		return
	}
	st.waiting = append(st.waiting, then)
	if st.state == rootsUnknown && st.ctx.Err() == nil {
		st.state = rootsAsked
		st.asking.Go(func() { s.askRoots(ctx, client) })
	}
	st.mu.Unlock()
}

// hasRoots reports whether a client can be asked for roots: one with a
// session that said so.
func hasRoots(client *mcp.ServerSession) bool {
	if client == nil {
		return false
	}
	p := client.InitializeParams()
	return p != nil && p.ProtocolVersion < modern && p.Capabilities != nil && p.Capabilities.RootsV2 != nil
}

// awaitRoots waits until the client's roots are known, or ctx ends.
func (s *Server) awaitRoots(ctx context.Context, client *mcp.ServerSession) error {
	known := make(chan struct{})
	s.whenRooted(ctx, client, func() { close(known) })
	select {
	case <-known:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beforeRequest holds what depends on the workspace until it is known.
func (s *Server) beforeRequest(ctx context.Context, method string, req mcp.Request) error {
	if s.roots == nil {
		return nil
	}
	client, ok := req.GetSession().(*mcp.ServerSession)
	switch {
	case !ok:
		return nil
	case method == rootsNews:
		s.rootsChanged()
		return nil
	case strings.HasPrefix(method, "tools/"), strings.HasPrefix(method, "resources/"),
		strings.HasPrefix(method, "prompts/"), strings.HasPrefix(method, "completion/"):
		return s.awaitRoots(ctx, client)
	}
	return nil
}

// rootsNews is how a client says that its roots have changed.
const rootsNews = "notifications/roots/list_changed"

// rootsChanged makes what comes from here on wait for the client's new roots.
func (s *Server) rootsChanged() {
	if s.roots == nil {
		return
	}
	s.rooting.mu.Lock()
	defer s.rooting.mu.Unlock()
	switch s.rooting.state {
	case rootsKnown:
		s.rooting.state = rootsUnknown
	case rootsAsked:
		s.rooting.changed = true
	}
}

// askRoots asks the client, moves to its root, and lets go on what waits.
func (s *Server) askRoots(request context.Context, client *mcp.ServerSession) {
	st := &s.rooting
	// The question outlives the request that it was put for.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request), st.wait)
	defer cancel()
	defer context.AfterFunc(st.ctx, cancel)()
	for {
		st.mu.Lock()
		st.changed = false
		st.mu.Unlock()
		answer, err := client.ListRoots(ctx, nil)
		if st.ctx.Err() != nil {
			return // nothing that waits is for another workspace
		}
		why := s.settleRoots(ctx, answer, err)
		s.tell(request, client, why)
		if s.goOn(why, ctx.Err() != nil) {
			return
		}
	}
}

// goOn lets go on what waits, in order; what comes meanwhile is behind. It
// reports false, unless it is late, where the client must be asked again.
func (s *Server) goOn(why string, late bool) bool {
	st := &s.rooting
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.changed && !late {
		return false
	}
	st.why, st.state = why, rootsKnown
	if st.changed {
		st.state = rootsUnknown
	}
	for _, then := range st.waiting {
		then()
	}
	st.waiting = nil
	return true
}

// settleRoots moves to the client's root, or to the operator's workspace,
// and says why to that.
func (s *Server) settleRoots(ctx context.Context, answer *mcp.ListRootsResult, err error) (why string) {
	dir, beneath := "", ""
	if err != nil {
		why = "the client was asked for its roots and did not say"
		s.logger.Warn("asking a client for its roots", "error", err)
	} else {
		dir, beneath, why = s.roots.choose(answer.Roots)
	}
	switch {
	case dir != "" && dir == s.root():
		return ""
	case dir != "":
		next, err := s.openHome(ctx, dir, beneath)
		if err == nil {
			s.moveTo(next)
			return ""
		}
		s.logger.Error("opening a client's root", "root", dir, "error", err)
		why = "the root of the client could not be opened; the server's log says why"
	}
	if s.root() != "" {
		s.moveTo(s.homes.own)
	}
	return why
}

func (s *Server) openHome(ctx context.Context, dir, beneath string) (*home, error) {
	if err := s.roomForHome(ctx); err != nil {
		return nil, err
	}
	session, err := s.roots.open(context.WithoutCancel(ctx), dir, beneath)
	if err != nil {
		return nil, err
	}
	for _, spec := range session.Specs() {
		if _, err := declare(spec); err != nil {
			return nil, errors.Join(fmt.Errorf("listing %s: %w", spec.Name, err), session.Close())
		}
	}
	return &home{session: session, root: dir, stop: s.watch(session)}, nil
}

func (s *Server) moveTo(h *home) {
	s.move(h)
	// The list was checked when the session was opened.
	_ = s.refresh()
}

// choose returns the first root that may be a workspace, or says why none is.
func (r *Roots) choose(roots []*mcp.Root) (dir, beneath, why string) {
	var reasons []string
	for _, root := range roots[:min(len(roots), maxRoots)] {
		if root == nil {
			continue
		}
		dir, beneath, err := r.place(root.URI)
		if err == nil {
			return dir, beneath, ""
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", plain.Line(tool.ClipText(root.URI, 200)), err))
	}
	if len(roots) == 0 {
		return "", "", "the client has no roots"
	}
	text := strings.Join(reasons[:min(len(reasons), maxReasons)], "; ")
	if more := len(roots) - min(len(reasons), maxReasons); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return "", "", "no root of the client can be the workspace (" + text + ")"
}

// tell lets the operator and the client know why no root is the workspace.
// A client that has not asked for messages gets none.
func (s *Server) tell(ctx context.Context, client *mcp.ServerSession, why string) {
	if why == "" {
		return
	}
	s.logger.Log(context.Background(), slog.LevelWarn, "a client's roots are not used", "reason", why)
	s.message(ctx, client, "warning", s.without(why))
}

// without says what the workspace is where it is no root of the client's.
func (s *Server) without(why string) string {
	return why + ". The workspace is the operator's, or there is none and the tools for files are left out"
}

// explain adds to the refusal of a tool that is not there why it may be
// missing. client is nil for one that is not asked for roots.
func (s *Server) explain(r *tool.Result, client *mcp.ServerSession) *tool.Result {
	if s.roots == nil || r.Code != tool.CodeUnknownTool {
		return r
	}
	why := "the client is not asked for its roots, or does not name them"
	if hasRoots(client) {
		s.rooting.mu.Lock()
		why = s.rooting.why
		s.rooting.mu.Unlock()
	}
	if why == "" {
		return r
	}
	said := *r
	said.Text += " Note: " + s.without(why) + "."
	return &said
}

// rootsInstructions say what decides about the workspace.
const rootsInstructions = "The workspace is the first of the client's roots that lies in a folder which the operator of this server allows. " +
	"Without one it is the operator's own, or there is none and the tools for files are left out. " +
	"A client of the stateless revision is not asked for roots."
