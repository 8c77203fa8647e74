//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/internal/netproxy"
)

// serverAndClient is a program that talks to itself over the loopback.
const serverAndClient = `
import socket, threading, sys
for host, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
    s = socket.socket(family); s.bind((host, 0)); s.listen()
    threading.Thread(target=lambda: s.accept()[0].sendall(b"hello"), daemon=True).start()
    c = socket.create_connection(s.getsockname()[:2], 5)
    print(c.recv(5).decode())
`

func TestNetworks(t *testing.T) {
	root, _ := workspace(t)
	machine := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer machine.Close()
	_, port, _ := net.SplitHostPort(machine.Listener.Addr().String())
	for _, d := range drivers(t, Policy{Workspace: root}) {
		for _, n := range []Network{NetOff, NetLoopback, NetOn} {
			t.Run(fmt.Sprintf("F104 %s %s", d, n), func(t *testing.T) {
				f := open(t, d, Policy{Workspace: root, Network: n})
				own := run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", serverAndClient}})
				reach := sh(t, f, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/"+port+"'")
				wantOwn := n == NetOn || n == NetLoopback && d != Landlock
				if (own.Code == 0) != wantOwn {
					t.Errorf("its own server: %d %q", own.Code, own.out)
				}
				if !wantOwn {
					if !strings.Contains(own.out, "PermissionError") {
						t.Errorf("does not fail at once and clearly: %q", own.out)
					}
					if got := Denials(f.Report(), root, own.out); len(got) != 1 || got[0].Op != OpConnect && got[0].Op != OpSystem {
						t.Logf("denials: %+v", got)
					}
				}
				if (reach.Code == 0) != (n == NetOn) {
					t.Errorf("the machine's: %d %q", reach.Code, reach.out)
				}
			})
		}
	}
}

// TestTheDoor reaches hosts through the proxy, and nothing past it.
func TestTheDoor(t *testing.T) {
	root, _ := workspace(t)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "far ", r.Host) }))
	defer far.Close()
	_, port, _ := net.SplitHostPort(far.Listener.Addr().String())
	for _, d := range []Driver{Namespaces, Landlock} {
		t.Run(string(d), func(t *testing.T) {
			proxy, err := netproxy.New(netproxy.Config{
				Allow: []string{"allowed.example"},
				Resolve: func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
				},
				Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
					var dialer net.Dialer
					return dialer.DialContext(ctx, "tcp", far.Listener.Addr().String())
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer proxy.Close()
			f := open(t, d, Policy{Mode: WorkspaceWrite, Workspace: root, Network: NetProxy, Proxy: proxy})
			get := func(url string) result {
				return run(t, f, Spec{Path: "python3", Argv: []string{"python3", "-c", "import urllib.request,sys; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())", url}})
			}
			if r := get("http://allowed.example/"); r.out != "far allowed.example:80\n" {
				t.Errorf("allowed: %q", r.out)
			}
			began := time.Now()
			if r := get("http://refused.example/"); r.Code == 0 || !strings.Contains(r.out, "403") {
				t.Errorf("refused: %q", r.out)
			}
			if got := proxy.Refusals(began.Add(-time.Second)); len(got) != 1 || got[0].Host != "refused.example" || !got[0].Askable {
				t.Errorf("Refusals = %+v", got)
			}
			for _, script := range []string{
				"bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "'",
				"env -u http_proxy -u HTTP_PROXY python3 -c 'import urllib.request; urllib.request.urlopen(\"http://127.0.0.1:" + port + "/\", timeout=3)'",
				"python3 -c 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.sendto(b\"x\",(\"127.0.0.1\"," + port + ")); s.connect((\"93.184.215.14\",53)); s.send(b\"x\")'",
			} {
				if r := sh(t, f, script); r.Code == 0 {
					t.Errorf("past the proxy: %s: %q", script, r.out)
				}
			}
		})
	}
	for _, d := range []Driver{Bubblewrap, Container} {
		if f, err := Open(context.Background(), Options{Driver: d, Image: "x", Policy: Policy{Workspace: root, Network: NetProxy, Proxy: echoServer{}}}); err == nil {
			_ = f.Close()
			t.Errorf("%s took a proxy that it cannot hold", d)
		}
	}
	if _, err := Open(context.Background(), Options{Policy: Policy{Workspace: root, Network: NetProxy}}); err == nil {
		t.Error("a proxy network without a proxy")
	}
}

// TestEmbedder builds a program whose init functions leave a trace, and has it
// open a fence.
func TestEmbedder(t *testing.T) {
	root, outside := workspace(t)
	program := outside + "/embedder"
	if out, err := goBuild(program, "./testdata/embedder"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := command(program, root)
	if err != nil || !strings.Contains(out, "inside\n") {
		t.Fatalf("%v: %s", err, out)
	}
	trace, err := os.ReadFile(outside + "/inits")
	if err != nil || strings.Count(string(trace), "\n") != 1 {
		t.Errorf("init functions ran in the fence, too: %q, %v", trace, err)
	}
}
