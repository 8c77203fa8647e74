package mcp

import (
	"sync"
	"time"
)

// bucket lets so many requests through a second, and as many again at once
// after a rest. It is safe for concurrent use.
type bucket struct {
	rate float64

	mu     sync.Mutex
	tokens float64
	last   time.Time
}

func newBucket(rate float64) *bucket { return &bucket{rate: rate, tokens: 2 * rate} }

// take reports whether a request may pass, and otherwise how long to wait.
func (b *bucket) take(now time.Time) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.last.IsZero() {
		b.tokens = min(2*b.rate, b.tokens+now.Sub(b.last).Seconds()*b.rate)
	}
	b.last = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / b.rate * float64(time.Second)), false
	}
	b.tokens--
	return 0, true
}
