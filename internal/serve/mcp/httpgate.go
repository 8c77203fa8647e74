package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// refusal is an answer to a request that gets no further. It is written as a
// JSON-RPC error, before any stream begins.
type refusal struct {
	status int
	code   int64
	text   string
	header [2]string // a further header, where the status asks for one
}

func (r *refusal) write(w http.ResponseWriter, id []byte) {
	if r.header[0] != "" {
		w.Header().Set(r.header[0], r.header[1])
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(appendError(nil, id, r.code, r.text)) // a client that has gone needs no answer
}

func refuse(status int, format string, args ...any) *refusal {
	code := int64(jsonrpc.CodeInvalidRequest)
	if status >= http.StatusInternalServerError {
		code = jsonrpc.CodeInternalError
	}
	return &refusal{status: status, code: code, text: fmt.Sprintf(format, args...)}
}

// admit judges who sends a request, by its headers alone.
func (h *HTTP) admit(r *http.Request) *refusal {
	if !h.hostAllowed(r.Host) {
		return refuse(http.StatusForbidden, "this server does not answer for the host %q", cut(r.Host))
	}
	if origin := r.Header.Values("Origin"); !h.originAllowed(origin) {
		return refuse(http.StatusForbidden, "pages of %q may not speak to this server", cut(strings.Join(origin, ", ")))
	}
	if h.o.Token != "" && !h.tokenRight(r.Header.Values("Authorization")) {
		no := refuse(http.StatusUnauthorized, "this server asks for the header Authorization: Bearer and the operator's token")
		no.header = [2]string{"WWW-Authenticate", "Bearer"}
		return no
	}
	if r.URL.Path != Path {
		return refuse(http.StatusNotFound, "there is nothing here; the server is at %s", Path)
	}
	return nil
}

// cut bounds a client's text that is said back.
func cut(text string) string { return text[:min(len(text), 100)] }

// hostAllowed reports whether a Host header names this server. A page whose
// name was pointed at this machine sends its own name, which is refused.
func (h *HTTP) hostAllowed(host string) bool {
	name := host
	if only, _, err := net.SplitHostPort(host); err == nil {
		name = only
	}
	name = strings.Trim(name, "[]")
	return loopbackName(name) || slices.ContainsFunc(h.o.Hosts, func(allowed string) bool {
		return strings.EqualFold(allowed, name) || strings.EqualFold(allowed, host)
	}) || len(h.o.Hosts) == 0 && h.o.Token != "" && addressName(name)
}

// addressName reports whether a name is an address. No page's name is one,
// so it cannot have been pointed anywhere.
func addressName(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

func loopbackName(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// originAllowed reports whether a page of this origin may speak to the
// server. Clients that are no pages send none.
func (h *HTTP) originAllowed(values []string) bool {
	switch len(values) {
	case 0:
		return true
	case 1:
	default:
		return false
	}
	if slices.Contains(h.o.Origins, values[0]) {
		return true
	}
	u, err := url.Parse(values[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopbackName(u.Hostname())
}

// tokenRight compares in a time that tells nothing about the token.
func (h *HTTP) tokenRight(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(h.o.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// allow asks a bucket for a place.
func allow(b *bucket) *refusal {
	wait, ok := b.take(time.Now())
	if ok {
		return nil
	}
	no := refuse(http.StatusTooManyRequests, "too many requests; send this one again in %v", wait.Round(time.Millisecond))
	no.header = [2]string{"Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds())))}
	return no
}

// busyWait is what a client is told to wait when there is no room, in
// seconds. Room comes when a request or session ends, which nobody foresees.
const busyWait = 5

// busy refuses a request for want of room.
func busy(format string, args ...any) *refusal {
	no := refuse(http.StatusServiceUnavailable, format, args...)
	no.header = [2]string{"Retry-After", strconv.Itoa(busyWait)}
	return no
}

// readBody reads what a request carries. release gives back the room that it
// takes.
func (h *HTTP) readBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), no *refusal) {
	if r.ContentLength > maxLine {
		return nil, nil, refuse(http.StatusRequestEntityTooLarge, "a request may have at most %d bytes", maxLine)
	}
	room := room{held: &h.held}
	body, err := room.read(http.MaxBytesReader(w, r.Body, maxLine), r.ContentLength)
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		no = refuse(http.StatusRequestEntityTooLarge, "a request may have at most %d bytes", maxLine)
	case errors.Is(err, errNoRoom):
		no = busy("the server is busy; send this request again later")
	case err != nil:
		no = refuse(http.StatusBadRequest, "the request could not be read whole")
	}
	if no != nil {
		room.release()
		return nil, nil, no
	}
	return body, room.release, nil
}

// room is what one body takes of the room that all share. It is taken as
// bytes arrive: a length that was only promised takes nothing from others.
type room struct {
	held  *atomic.Int64
	taken int64
}

var errNoRoom = errors.New("no room for a body")

func (m *room) release() { m.held.Add(-m.taken) }

// grow takes room for a body of size bytes in all.
func (m *room) grow(size int) bool {
	more := int64(size) - m.taken
	if m.held.Add(more) > maxHeld {
		m.held.Add(-more)
		return false
	}
	m.taken += more
	return true
}

// read reads a body of a length that was promised, or of any if it is
// negative.
func (m *room) read(from io.Reader, promised int64) ([]byte, error) {
	const first = 64 << 10
	size := first
	if promised >= 0 && promised < first {
		size = int(promised) + 1 // one more, to see the end
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			if cap(body) > 0 {
				size = 2 * cap(body)
			}
			if promised >= 0 && int64(size) > promised {
				size = max(int(promised)+1, cap(body)+1)
			}
			if !m.grow(size) {
				return nil, errNoRoom
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}
