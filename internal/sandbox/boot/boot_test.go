//go:build linux && (amd64 || arm64)

package boot

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestImports holds what makes this package run before every init function of a
// program that could reach a file: it imports nothing that is initialised after
// the package syscall.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains([]string{"runtime", "syscall", "unsafe"}, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func TestMessages(t *testing.T) {
	plan := &Plan{
		UID: 1000, GID: 100, Free: true, Writable: []string{"/a", ""}, Visible: []string{"/b"}, Root: "/a", Protected: []string{"/a/p"}, Hidden: []string{"/h"},
		Temp: 1 << 40, Loopback: true, Door: true, Filter: []byte{0, 1, 255}, Limits: [][2]uint64{{1, 2}, {3, 4}}, Pids: 7,
		Ruleset: Ruleset{FS: 1, Net: 2, Scoped: 3, Rules: []Rule{{"/r", 5}}},
	}
	body := &Buf{B: plan.Bytes()[1:]}
	if got := takePlan(body); body.Bad || len(body.B) != 0 || !reflect.DeepEqual(got, plan) {
		t.Errorf("%+v, want %+v", got, plan)
	}
	c := &Command{Path: "/p", Dir: "/d", Argv: []string{"a", ""}, Env: []string{"A=b"}, Terminal: true, Rows: 65535, Cols: 1}
	body = &Buf{B: c.Bytes()[1:]}
	if got := takeCommand(body); body.Bad || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v, want %+v", got, c)
	}
	e := End{Status: 0x8b, UserUS: 1, SystemUS: 2, MaxRSSKiB: 3, InBlock: 4, OutBlock: 5, Left: true}
	if got := TakeEnd(&Buf{B: e.bytes()[1:]}); got != e {
		t.Errorf("%+v, want %+v", got, e)
	}
}

func TestSendLarge(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer CloseAll(pair[:])
	buf := make([]byte, MaxDatagram)
	for _, n := range []int{1, MaxDatagram, MaxDatagram + 1, 2 << 20} {
		msg := []byte(strings.Repeat("x", n))
		if err := Send(pair[0], msg, pair[0]); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		kind, body, files, err := Recv(pair[1], buf)
		if err != nil || kind != 'x' || len(body.B) != n-1 || len(files) != 1 {
			t.Errorf("%d bytes: %c, %d bytes, %v, %v", n, kind, len(body.B), files, err)
		}
		CloseAll(files)
	}
	syscall.Close(pair[0])
	if _, _, _, err := Recv(pair[1], buf); err != syscall.EPIPE {
		t.Errorf("the end of the peer: %v", err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add((&Plan{Root: "/a", Hidden: []string{"x"}, Limits: [][2]uint64{{1, 2}}}).Bytes())
	f.Add((&Command{Path: "/p", Argv: []string{"a"}}).Bytes())
	f.Add([]byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) == 0 {
			return
		}
		takePlan(&Buf{B: msg[1:]})
		body := &Buf{B: msg[1:]}
		if c := takeCommand(body); !body.Bad && len(body.B) == 0 {
			again := &Buf{B: c.Bytes()[1:]}
			if got := takeCommand(again); !reflect.DeepEqual(got, c) {
				t.Errorf("%+v, then %+v", c, got)
			}
		}
		TakeEnd(&Buf{B: msg[1:]})
	})
}
