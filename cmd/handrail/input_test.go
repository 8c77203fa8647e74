package main

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"
)

// TestCancelWhileReading stops the program while it waits for its input.
func TestCancelWhileReading(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	for _, args := range [][]string{{"batch"}, {"call", "read_file", "-"}, {"explain", "read_file", "-"}} {
		in, keep := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		exit := make(chan int, 1)
		var out, complaints bytes.Buffer
		go func() {
			exit <- run(ctx, &terminal{in: in, out: &out, err: &complaints}, append(args, "-w", dir))
		}()
		cancel()
		select {
		case code := <-exit:
			if code != exitStopped || out.Len() > 0 {
				t.Errorf("%v: exit code %d, printed %q, complained %q", args, code, out.String(), complaints.String())
			}
		case <-time.After(patience):
			t.Fatalf("%v does not end", args)
		}
		if err := keep.Close(); err != nil {
			t.Error(err)
		}
	}
}

// patience is how long a test waits for the program: far longer than it
// takes on a busy machine.
const patience = 20 * time.Second
