package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine is the longest message, in bytes. Arguments have at most 1
	// MiB, of which JSON may write each byte as six.
	maxLine = 8 << 20
	// maxOpen is how many calls of one client may be open at once. Session
	// and client agree that 16 run; the rest are waiting already.
	maxOpen = 1024
	// maxKeptBack is how much of arguments and unsent results of one client
	// may be held, in bytes, before it must wait with further calls.
	maxKeptBack = 64 << 20
	// drainGrace is how long requests that were already taken may still be
	// answered after a client has closed its sending side.
	drainGrace = 10 * time.Second
	// stuckTime is how long a client may take to read a line, once the
	// system holds no more of it. Nothing is read from it meanwhile in the
	// end, so that its going away would not be seen either. It is long since
	// a client may be stopped by its user for a while.
	stuckTime = 10 * time.Minute

	initialize = "initialize"

	idTaken = "a request with this id is still open"
	tooMany = "too many requests are open; wait until some have ended"
)

// stdio speaks with one client over a pair of streams, a message a line.
//
// The SDK has the protocol: it opens the session, lists, and answers
// everything but calls of tools and readings of resources. Those go from the
// line to the Handrail session and from the result to the line. That keeps three promises that
// the SDK's own way does not: calls take their places in the order of the
// wire, an id comes back as it was sent, and a long result is written once
// and not scanned again at every layer.
type stdio struct {
	server *Server
	in     io.ReadCloser
	out    io.WriteCloser

	toSDK  chan jsonrpc.Message
	ended  chan struct{} // closed when no more is read
	closed chan struct{}
	once   sync.Once

	// present ends, by hangUp, when the client can send nothing any more.
	present context.Context
	hangUp  context.CancelFunc

	peer *mcp.ServerSession // see client

	turn   chan struct{} // full while a line is written
	behind int           // bytes of messages passed on since a write began; only read uses it

	mu    sync.Mutex
	calls map[string]openStdio // open calls by the text of their id
	held  int                  // bytes of the arguments and results of calls
	// answering is how many answers are ready and not sent yet.
	answering int
	asked     map[jsonrpc.ID]string // open requests that the SDK answers, and their methods
	idle      chan struct{}         // made at the end of input; closed when nothing is open
	ready     bool                  // the session was opened
	// opening is closed when initialize, which is open, is answered.
	opening chan struct{}
}

// ServeStdio speaks over a pair of streams until the client goes away or ctx
// ends. Calls that are still running then are cancelled.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return s.serve(ctx, &stdioTransport{server: s, ctx: ctx, in: in, out: out})
}

type stdioTransport struct {
	server *Server
	ctx    context.Context // of the calls: the SDK's own ends with Connect
	in     io.ReadCloser
	out    io.WriteCloser
}

func (t *stdioTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &stdio{
		server: t.server, in: t.in, out: t.out, turn: make(chan struct{}, 1),
		toSDK: make(chan jsonrpc.Message), ended: make(chan struct{}), closed: make(chan struct{}),
		calls: map[string]openStdio{}, asked: map[jsonrpc.ID]string{},
	}
	c.present, c.hangUp = context.WithCancel(t.ctx)
	// The SDK closes only what is idle, and a write may never end.
	context.AfterFunc(t.ctx, c.giveUp)
	go c.read(t.ctx)
	return c, nil
}

// SessionID is "": one pair of streams is one session.
func (c *stdio) SessionID() string { return "" }

// Close lets go of the streams. A read that does not end when its stream is
// closed keeps its goroutine; standard input of a process that ends does no
// harm by that.
func (c *stdio) Close() error {
	c.hangUp()
	c.giveUp()
	return errors.Join(c.in.Close(), c.out.Close())
}

// giveUp ends everything that waits for the client.
func (c *stdio) giveUp() { c.once.Do(func() { close(c.closed) }) }

// Read hands the SDK its next message.
func (c *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.toSDK:
		return m, nil
	case <-c.ended:
		return nil, io.EOF
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends a message of the SDK's.
func (c *stdio) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		defer c.answers(r)()
	}
	sent := make(chan error, 1)
	go func() { sent <- c.send(append(line, '\n')) }()
	select {
	case err = <-sent:
		return err
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

// answers gives the id of a request back, which its client may use again as
// soon as it has the answer. What it returns is called once that is sent.
func (c *stdio) answers(r *jsonrpc.Response) (sent func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	opens := c.asked[r.ID] == initialize
	delete(c.asked, r.ID)
	c.answering++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if opens && c.opening != nil {
			c.ready = c.ready || r.Error == nil
			close(c.opening)
			c.opening = nil
		}
		c.answering--
		c.settle()
	}
}

// send writes a line. A client that cannot be written to has gone, although
// its other stream may still be open.
func (c *stdio) send(line []byte) error {
	select {
	case c.turn <- struct{}{}:
	case <-c.closed:
		return io.ErrClosedPipe
	}
	stuck := time.AfterFunc(cmp.Or(c.server.stuck, stuckTime), c.giveUp)
	_, err := c.out.Write(line)
	stuck.Stop()
	<-c.turn
	if err != nil {
		c.giveUp()
	}
	return err
}

// read takes in line after line until the client closes its side, and then
// waits until what it asked for is answered.
func (c *stdio) read(ctx context.Context) {
	defer close(c.ended)
	in := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errLong):
			c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message may have at most %d bytes; this one was left out", maxLine))
		case len(bytes.TrimSpace(line)) > 0:
			c.take(ctx, line)
		}
		if err != nil && !errors.Is(err, errLong) {
			c.drain(ctx)
			return
		}
	}
}

var errLong = errors.New("line too long")

// readLine returns the next line. Of one that is too long it keeps nothing.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.ReadSlice('\n')
		if long = long || len(whole)+len(line) > maxLine; long {
			whole = nil
			continue
		}
		whole = append(slices.Grow(whole, max(len(line), len(whole))), line...)
	}
	if long && err == nil {
		err = errLong
	}
	return whole, err
}

// take passes a message to whom it is for. The line is only valid until it
// returns.
func (c *stdio) take(ctx context.Context, line []byte) {
	f, no := readFrame(line)
	if no != nil {
		if !no.answer {
			c.refuse(no.id, no.code, no.text)
		}
		return
	}
	switch {
	case f.method == callMethod && f.id != nil && c.takeCall(ctx, f):
		return
	case f.method == readMethod && f.id != nil && c.takeRead(ctx, f):
		return
	case f.method == "notifications/cancelled" && c.cancel(f.params):
		return
	case f.method == rootsNews:
		c.server.rootsChanged() // before anything that follows on the line
		return
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		if f.method != "" {
			c.refuse(f.id, jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+err.Error())
		}
		return
	}
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		c.waitForReader(len(line))
		c.pass(ctx, m, nil)
		return
	}
	if no := c.ask(f, r); no != "" {
		c.refuse(f.id, jsonrpc.CodeInvalidRequest, no)
		return
	}
	c.pass(ctx, m, c.opened())
}

// waitForReader keeps a client that does not read what it is sent from
// filling the SDK's row of messages, which has no end.
func (c *stdio) waitForReader(size int) {
	const each = 1 << 10 // what the SDK keeps beside a message, in bytes
	select {
	case c.turn <- struct{}{}:
	default:
		if c.behind += size + each; c.behind <= maxLine {
			return
		}
		select {
		case c.turn <- struct{}{}:
		case <-c.closed:
			return
		}
	}
	<-c.turn
	c.behind = 0
}

// ask notes a request that the SDK is to answer, or says why it may not.
func (c *stdio) ask(f frame, r *jsonrpc.Request) (no string) {
	if !idExact(f.id) {
		return idInexact
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, taken := c.asked[r.ID]
	switch {
	case taken || c.calls[string(f.id)].stop != nil:
		return idTaken
	case len(c.asked)+c.answering >= maxOpen:
		return tooMany
	}
	c.asked[r.ID] = r.Method
	if r.Method == initialize {
		c.opening = make(chan struct{})
	}
	return ""
}

// opened is closed when initialize, if it is open, is answered.
func (c *stdio) opened() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opening
}

// pass hands a message to the SDK. What follows initialize on the line is
// for the session that it opens, so nothing is read before it is answered.
func (c *stdio) pass(ctx context.Context, m jsonrpc.Message, opening <-chan struct{}) {
	select {
	case c.toSDK <- m:
	case <-c.closed:
		return
	case <-ctx.Done():
		return
	}
	if opening == nil {
		return
	}
	select {
	case <-opening:
	case <-c.closed:
	case <-ctx.Done():
	}
}

// refuse answers a message that cannot be passed on.
func (c *stdio) refuse(id json.RawMessage, code int64, text string) {
	_ = c.send(appendError(nil, id, code, text))
}

// drain waits until everything that was asked is answered, or for as long as
// the server has patience.
func (c *stdio) drain(ctx context.Context) {
	c.hangUp() // who sends nothing any more answers no question
	idle := make(chan struct{})
	c.mu.Lock()
	c.idle = idle
	c.settle()
	c.mu.Unlock()
	patience := time.NewTimer(c.server.patience)
	defer patience.Stop()
	select {
	case <-idle:
	case <-c.closed:
	case <-ctx.Done():
	case <-patience.C:
		c.giveUp() // the answers that are left are not read
	}
}

// settle tells drain that nothing is open any more. c.mu is held.
func (c *stdio) settle() {
	if c.idle != nil && len(c.calls)+len(c.asked)+c.answering == 0 {
		close(c.idle)
		c.idle = nil
	}
}
