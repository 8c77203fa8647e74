//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestSignalsInARowMeanOneStop sends what Claude Code sends to a server that
// it ends. If the second signal had its usual effect, there would be no test
// any more that could pass.
func TestSignalsInARowMeanOneStop(t *testing.T) {
	ctx, stop := untilSignal()
	defer stop()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("the first signal does not end the context")
		}
		time.Sleep(50 * time.Millisecond)
	}
}
