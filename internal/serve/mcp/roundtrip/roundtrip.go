// Package roundtrip seals what a server gives its client to bring back with
// the answer to a question, so that the server need not keep it and the
// client cannot change it, use it for another request, late, or twice.
package roundtrip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

const (
	// DefaultLife is how long a client may take to answer.
	DefaultLife = 10 * time.Minute
	// maxUsed is how many states are remembered as used. Each is forgotten
	// when it expires, so this many answers are taken within one life.
	maxUsed = 1 << 16
	// maxState is the longest state that is read, in bytes.
	maxState = 64 << 10

	nonceSize, timeSize, macSize = 16, 8, sha256.Size
	bindingSize                  = 3 * sha256.Size
	headSize                     = nonceSize + timeSize + bindingSize
)

// What may be wrong with a state. Each is about the client's own request, so
// that a client may be told which it is.
var (
	ErrForged    = errors.New("this state was not made here, or was changed")
	ErrPrincipal = errors.New("this state was made for somebody else")
	ErrRequest   = errors.New("this state was made for another request")
	ErrArgs      = errors.New("the arguments are not those for which this state was made")
	ErrExpired   = errors.New("this state is too old")
	ErrUsed      = errors.New("this state was brought back before")
	ErrBusy      = errors.New("too many states were brought back; ask again later")
)

// Request is what a state belongs to.
type Request struct {
	// Principal is whose request it is.
	Principal string
	// Method and Name are the request's: "tools/call" and the tool's name.
	Method, Name string
	// Args are its arguments. They are compared byte for byte.
	Args []byte
}

// Sealer makes and opens states. The zero value is ready and seals with a
// key that no other has. It is safe for concurrent use.
type Sealer struct {
	// Life is how long a state is valid. 0 means [DefaultLife].
	Life time.Duration

	once sync.Once
	key  [32]byte

	mu   sync.Mutex
	used map[[nonceSize]byte]time.Time // until when it would be valid
}

func (s *Sealer) start() {
	s.once.Do(func() {
		_, _ = rand.Read(s.key[:]) // it ends the program rather than fail
		s.used = map[[nonceSize]byte]time.Time{}
		if s.Life <= 0 {
			s.Life = DefaultLife
		}
	})
}

// Seal returns a state that carries data. The client can read it.
func (s *Sealer) Seal(r Request, data string) string {
	s.start()
	body := make([]byte, nonceSize, headSize+len(data)+macSize)
	_, _ = rand.Read(body)
	body = binary.BigEndian.AppendUint64(body, uint64(time.Now().Add(s.Life).UnixMilli()))
	body = append(body, s.bind(r)...)
	body = append(body, data...)
	return base64.RawURLEncoding.EncodeToString(append(body, s.mac(body)...))
}

// Open returns the data of a state that was sealed for the same request and
// uses the state up. One that is refused is not used up.
func (s *Sealer) Open(r Request, state string) (string, error) {
	s.start()
	if len(state) > maxState {
		return "", ErrForged
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(raw) < headSize+macSize {
		return "", ErrForged
	}
	body, mac := raw[:len(raw)-macSize], raw[len(raw)-macSize:]
	if !hmac.Equal(mac, s.mac(body)) {
		return "", ErrForged
	}
	sealed, now := body[nonceSize+timeSize:headSize], s.bind(r)
	for i, other := range []error{ErrPrincipal, ErrRequest, ErrArgs} {
		if part := i * sha256.Size; !hmac.Equal(sealed[part:part+sha256.Size], now[part:part+sha256.Size]) {
			return "", other
		}
	}
	until := time.UnixMilli(int64(binary.BigEndian.Uint64(body[nonceSize:])))
	if err := s.use([nonceSize]byte(body), until); err != nil {
		return "", err
	}
	return string(body[headSize:]), nil
}

func (s *Sealer) use(nonce [nonceSize]byte, until time.Time) error {
	now := time.Now()
	if !now.Before(until) {
		return ErrExpired
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, used := s.used[nonce]; used {
		return ErrUsed
	}
	if len(s.used) >= maxUsed {
		for old, end := range s.used {
			if !now.Before(end) {
				delete(s.used, old)
			}
		}
	}
	if len(s.used) >= maxUsed {
		return ErrBusy
	}
	s.used[nonce] = until
	return nil
}

// bind is what a request is known by: who sends it, what it is, and its
// arguments. It is made with the key, so that none can be found by trying.
func (s *Sealer) bind(r Request) []byte {
	b := make([]byte, 0, bindingSize)
	b = append(b, s.mac([]byte(r.Principal))...)
	// The length keeps the method from passing into the name.
	name := binary.BigEndian.AppendUint64(nil, uint64(len(r.Method)))
	b = append(b, s.mac(append(append(name, r.Method...), r.Name...))...)
	return append(b, s.mac(r.Args)...)
}

func (s *Sealer) mac(body []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write(body)
	return h.Sum(nil)
}
