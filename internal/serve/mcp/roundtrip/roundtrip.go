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
)

// What may be wrong with a state. A client learns no more than that it is
// not valid; the difference is for logs.
var (
	ErrForged  = errors.New("this state was not made here, or not for this request")
	ErrExpired = errors.New("this state is too old")
	ErrUsed    = errors.New("this state was brought back before")
	ErrBusy    = errors.New("too many states were brought back; ask again later")
)

// Request is what a state belongs to.
type Request struct {
	// Principal is whose request it is.
	Principal string
	// Method and Name are the request's: "tools/call" and the tool's name.
	Method, Name string
	// Args are its arguments, byte for byte.
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
	body := make([]byte, nonceSize, nonceSize+timeSize+len(data)+macSize)
	_, _ = rand.Read(body)
	body = binary.BigEndian.AppendUint64(body, uint64(time.Now().Add(s.Life).UnixMilli()))
	body = append(body, data...)
	return base64.RawURLEncoding.EncodeToString(append(body, s.mac(r, body)...))
}

// Open returns the data of a state that was sealed for the same request and
// uses the state up.
func (s *Sealer) Open(r Request, state string) (string, error) {
	s.start()
	if len(state) > maxState {
		return "", ErrForged
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(raw) < nonceSize+timeSize+macSize {
		return "", ErrForged
	}
	body, mac := raw[:len(raw)-macSize], raw[len(raw)-macSize:]
	if !hmac.Equal(mac, s.mac(r, body)) {
		return "", ErrForged
	}
	until := time.UnixMilli(int64(binary.BigEndian.Uint64(body[nonceSize:])))
	if err := s.use([nonceSize]byte(body), until); err != nil {
		return "", err
	}
	return string(body[nonceSize+timeSize:]), nil
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

// mac covers what the state belongs to and what it carries. Each part comes
// with its length, so that none can pass into its neighbour.
func (s *Sealer) mac(r Request, body []byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	args := sha256.Sum256(r.Args)
	for _, part := range [][]byte{[]byte(r.Principal), []byte(r.Method), []byte(r.Name), args[:], body} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return h.Sum(nil)
}
