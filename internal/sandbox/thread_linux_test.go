package sandbox

import (
	"runtime"
	"testing"
	"time"
)

// TestRestrictedThreadIsNotTheFirst: a thread that is restricted with a
// command must never be the one by which the kernel judges who may look into
// this process.
func TestRestrictedThreadIsNotTheFirst(t *testing.T) {
	first := make(chan bool)
	plain := func(f func()) {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			f()
		}()
	}
	// often counts how often the first thread is taken, with as many
	// goroutines at once that the runtime needs every thread it has.
	often := func(start func(func())) (n int) {
		for range 300 {
			for range 8 {
				start(func() {
					is := isFirstThread()
					time.Sleep(time.Millisecond)
					first <- is
				})
			}
			for range 8 {
				if <-first {
					n++
				}
			}
		}
		return n
	}
	if n := often(onThread); n > 0 {
		t.Errorf("the first thread was taken %d times", n)
	}
	if often(plain) == 0 {
		t.Error("the first thread is never taken here, so this test shows nothing")
	}
}
