package hook

import (
	"sync"
	"time"
)

// A breaker counts how often one hook of one session has failed in a row.
type breaker struct {
	mu       sync.Mutex
	failures int
	last     time.Time
	why      string
}

// tripped reports how often the hook has failed, where that is often enough,
// why it did last, and whether it is time to try it again.
func (b *breaker) tripped() (failures int, why string, again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < BreakerAfter {
		return 0, "", true
	}
	return b.failures, b.why, time.Since(b.last) >= breakerPause
}

// failed notes a failure and returns how many there were in a row.
func (b *breaker) failed(err error) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.last, b.why = time.Now(), err.Error()
	return b.failures
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
}
