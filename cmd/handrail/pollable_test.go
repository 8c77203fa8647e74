//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPollable(t *testing.T) {
	var fds [2]int // as standard input comes: a descriptor that blocks
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	defer func() { _ = w.Close() }()
	in, restore := pollable(r)
	f, ok := in.(*os.File)
	if !ok || f == r {
		t.Fatal("a pipe stays in a system call")
	}
	if err := f.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Errorf("the poller does not have it: %v", err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || !os.IsTimeout(err) {
		t.Errorf("read %d, %v", n, err)
	}
	_, _ = w.WriteString("x")
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		t.Error(err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	restore()

	file, err := os.Create(filepath.Join(t.TempDir(), "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if in, _ := pollable(file); in != file {
		t.Error("a file is not left as it is")
	}
	text := strings.NewReader("")
	if in, _ := pollable(text); in != text {
		t.Error("a reader is not left as it is")
	}
}
