package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// drainGrace is how long requests that were already taken may still be
	// answered after a client has closed its sending side.
	drainGrace = 10 * time.Second

	initialize = "initialize"
)

// stdio speaks with one client over a pair of streams, a message a line.
//
// The SDK has the protocol: it opens the session, lists, and answers
// everything but calls of tools. Those go from the line to the Handrail
// session and from the result to the line. That keeps three promises that
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

	writing sync.Mutex

	mu    sync.Mutex
	calls map[string]context.CancelFunc // open calls by the text of their id
	// answering is how many calls have ended whose answer is not sent yet.
	answering int
	asked     map[jsonrpc.ID]string //  open requests that the SDK answers, and their methods
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
		server: t.server, in: t.in, out: t.out,
		toSDK: make(chan jsonrpc.Message), ended: make(chan struct{}), closed: make(chan struct{}),
		calls: map[string]context.CancelFunc{}, asked: map[jsonrpc.ID]string{},
	}
	go c.read(t.ctx)
	return c, nil
}

// SessionID is "": one pair of streams is one session.
func (c *stdio) SessionID() string { return "" }

// Close lets go of the streams. A read that does not end when its stream is
// closed keeps its goroutine; standard input of a process that ends does no
// harm by that.
func (c *stdio) Close() error {
	c.once.Do(func() { close(c.closed) })
	return errors.Join(c.in.Close(), c.out.Close())
}

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
	err = c.send(append(line, '\n'))
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		if c.asked[r.ID] == initialize && c.opening != nil {
			c.ready = c.ready || r.Error == nil
			close(c.opening)
			c.opening = nil
		}
		delete(c.asked, r.ID)
		c.settle()
		c.mu.Unlock()
	}
	return err
}

func (c *stdio) send(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(line)
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
		whole = append(whole, line...)
	}
	if long && err == nil {
		err = errLong
	}
	return whole, err
}

// envelope is a message as far as it must be known to be passed on.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// take passes a message to whom it is for. The line is only valid until it
// returns.
func (c *stdio) take(ctx context.Context, line []byte) {
	var e envelope
	var syntax *json.SyntaxError
	if err := json.Unmarshal(line, &e); errors.As(err, &syntax) {
		c.refuse(nil, jsonrpc.CodeParseError, "this line is no JSON")
		return
	} else if err != nil {
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "a message is one JSON-RPC object a line; batches are not part of the protocol")
		return
	}
	switch {
	case e.Method == callMethod && e.ID != nil && c.takeCall(ctx, e):
		return
	case e.Method == readMethod && e.ID != nil && c.takeRead(ctx, e):
		return
	case e.Method == "notifications/cancelled" && c.cancel(e.Params):
		return
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.refuse(e.ID, jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: "+err.Error())
		return
	}
	if r, ok := m.(*jsonrpc.Request); !ok || !r.IsCall() {
		c.pass(ctx, m, nil)
	} else if opening, ok := c.ask(r); ok {
		c.pass(ctx, m, opening)
	} else {
		c.refuse(e.ID, jsonrpc.CodeInvalidRequest, "a request with this id is still open")
	}
}

// ask notes a request that the SDK is to answer. It reports false if the id
// is in use.
func (c *stdio) ask(r *jsonrpc.Request) (opening chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.asked[r.ID]; taken {
		return nil, false
	}
	c.asked[r.ID] = r.Method
	if r.Method == initialize {
		c.opening = make(chan struct{})
	}
	return c.opening, true
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

// refuse answers a message that cannot be passed on. A stream that cannot be
// written to ends the reading soon by itself.
func (c *stdio) refuse(id json.RawMessage, code int64, text string) {
	_ = c.send(appendError(nil, id, code, text))
}

// drain waits until everything that was asked is answered.
func (c *stdio) drain(ctx context.Context) {
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
	}
}

// settle tells drain that nothing is open any more. c.mu is held.
func (c *stdio) settle() {
	if c.idle != nil && len(c.calls)+len(c.asked)+c.answering == 0 {
		close(c.idle)
		c.idle = nil
	}
}
