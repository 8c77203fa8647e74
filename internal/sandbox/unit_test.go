package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func goBuild(to, pkg string) (string, error) {
	c := exec.Command("go", "build", "-o", to, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	return string(out), err
}

func command(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	return string(out), err
}

func TestPolicyNamesAllThatIsWrong(t *testing.T) {
	_, err := Open(context.Background(), Options{Policy: Policy{
		Mode: "sometimes", Workspace: "relative", Writable: []string{"x"}, Unreadable: []string{"/"}, Protected: []string{"../x", "/abs", "."}, Network: "maybe",
		Limits: Limits{Memory: -1},
	}})
	for _, want := range []string{`"sometimes"`, `"relative"`, `writable: "x"`, "unreadable: the root", `"../x"`, `"/abs"`, `"."`, `"maybe"`, "negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in %v", want, err)
		}
	}
	root := t.TempDir()
	for _, p := range []Policy{
		{Workspace: root, Limits: Limits{CPU: time.Millisecond}},
		{Workspace: root, Limits: Limits{Memory: minMemory - 1}},
		{Workspace: root, Unreadable: []string{filepath.Dir(root)}},
		{Workspace: root, Writable: []string{root + "/sub"}, Unreadable: []string{root}},
		{Workspace: "/"},
	} {
		if _, err := p.normal(); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
	p, err := Policy{Workspace: root}.normal()
	if err != nil || p.Mode != ReadOnly || p.Network != NetOff || p.UnixSockets {
		t.Errorf("the zero policy is %+v, %v", p, err)
	}
	if _, err := Open(context.Background(), Options{Driver: "magic", Policy: Policy{Workspace: root}}); err == nil || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("unknown driver: %v", err)
	}
}

// TestL66_ExplicitDriverRefuses holds that a driver that was asked for is that
// or nothing.
func TestL66_ExplicitDriverRefuses(t *testing.T) {
	root := t.TempDir()
	for _, d := range []Driver{Seatbelt, Container} {
		_, err := Open(context.Background(), Options{Driver: d, Policy: Policy{Workspace: root}})
		var un *UnavailableError
		if d == Seatbelt && err == nil {
			continue // a Mac
		}
		if !errors.As(err, &un) || un.Driver != d || un.Reason == "" {
			t.Errorf("%s: %v", d, err)
		}
	}
	if _, err := openStrongest(context.Background(), "plan9", Policy{Workspace: root}); err == nil {
		t.Error("a system without drivers got a fence")
	}
}

func pairs(args []string, name string) (values []string) {
	for i, a := range args {
		if a == name && i+1 < len(args) {
			values = append(values, args[i+1])
		}
	}
	return values
}

// TestL67_BubblewrapOrder holds the order of mounts.
func TestL67_BubblewrapOrder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir()) // below /tmp, as in the lesson
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".git", "config"), "x")
	write(t, filepath.Join(root, ".env"), "x")
	p, err := Policy{Mode: WorkspaceWrite, Workspace: root, Unreadable: []string{filepath.Join(root, ".env")}, Protected: DefaultProtected()}.normal()
	if err != nil {
		t.Fatal(err)
	}
	args := bubblewrapArgs(p, root)
	at := func(parts ...string) int {
		for i := range args {
			if i+len(parts) <= len(args) && slices.Equal(args[i:i+len(parts)], parts) {
				return i
			}
		}
		t.Errorf("no %q in %q", parts, args)
		return -1
	}
	order := []int{at("--ro-bind", "/", "/"), at("--tmpfs", "/tmp"), at("--bind", root, root), at("--bind", root+"/.git", root+"/.git"), at("--ro-bind", root+"/.git/config", root+"/.git/config"), at("--ro-bind", os.DevNull, root+"/.env"), at("--chdir", root)}
	if !slices.IsSorted(order) {
		t.Errorf("order %v of %q", order, args)
	}
	if !slices.Contains(args, "--unshare-net") || !slices.Contains(args, "--die-with-parent") {
		t.Errorf("%q", args)
	}
	p.Mode = ReadOnly
	if args := bubblewrapArgs(p, root); slices.Contains(args, "--bind") {
		t.Errorf("read-only: %q", args)
	}
}

func TestSeatbeltProfile(t *testing.T) {
	p := Policy{Mode: WorkspaceWrite, Workspace: `/w/a") (allow default) ("`, Writable: []string{"/extra"}, Unreadable: []string{"/secret"}, Protected: []string{".git/hooks/"}, Network: NetProxy}
	args := seatbeltArgs(p, "/scratch", 4711)
	profile := args[1]
	if strings.Contains(profile, "allow default") || strings.Contains(profile, "/secret") {
		t.Errorf("a path stands in the profile: %s", profile)
	}
	params := pairs(args, "-D")
	for _, want := range []string{"=/scratch", "=" + p.Workspace, "=/extra", "=/secret", "=" + p.Workspace + "/.git", "=" + p.Workspace + "/.git/hooks"} {
		if !slices.ContainsFunc(params, func(s string) bool { return strings.HasSuffix(s, want) }) {
			t.Errorf("no parameter %s in %q", want, params)
		}
	}
	write, deny := strings.Index(profile, "(allow file-write* (subpath"), strings.Index(profile, "(deny file-write* (subpath")
	if !strings.HasPrefix(profile, "(version 1)\n(deny default)") || write < 0 || deny < write {
		t.Errorf("order of rules: %s", profile)
	}
	if !strings.Contains(profile, `"localhost:4711"`) || strings.Contains(profile, "(allow network*") {
		t.Errorf("network: %s", profile)
	}
	if strings.Count(profile, "(") != strings.Count(profile, ")") {
		t.Errorf("parentheses: %s", profile)
	}
	p = Policy{Mode: ReadOnly, Workspace: "/w", Network: NetOff}
	if s := seatbeltArgs(p, "/scratch", 0)[1]; strings.Contains(s, "network") || strings.Count(s, "subpath") != 1 {
		t.Errorf("read-only: %s", s)
	}
}

// TestSeatbeltHoldsWhatIsHidden holds that a hidden file keeps its name.
func TestSeatbeltHoldsWhatIsHidden(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(root+"/conf/deep", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/conf/deep/secret", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	args := seatbeltArgs(Policy{Mode: WorkspaceWrite, Workspace: root, Unreadable: []string{root + "/conf/deep/secret"}}, "/scratch", 0)
	if params := strings.Join(pairs(args, "-D"), " "); strings.Count(args[1], "(deny file-write-unlink (literal") != 2 || !strings.Contains(params, root+"/conf ") || !strings.Contains(params, root+"/conf/deep ") {
		t.Errorf("%s", args)
	}
}

// TestPlacesAreNotHeldBehindALink holds that no folder is made outside of a
// workspace whose protected path leads there.
func TestPlacesAreNotHeldBehindALink(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, root+"/.git"); err != nil {
		t.Fatal(err)
	}
	if _, err := holdPlaces(Policy{Mode: WorkspaceWrite, Workspace: root, Protected: DefaultProtected()}); err == nil {
		t.Error("it is accepted")
	}
	if made, err := os.ReadDir(outside); err != nil || len(made) > 0 {
		t.Errorf("made outside: %v, %v", made, err)
	}
}

func TestContainerArguments(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, ".git", "config"), "x")
	write(t, filepath.Join(root, "secret", "x"), "x")
	p := Policy{Mode: WorkspaceWrite, Workspace: root, Writable: []string{"/srv/extra"}, Unreadable: []string{filepath.Join(root, "secret"), "/home/x"}, Protected: DefaultProtected(), Network: NetOff,
		Limits: Limits{Memory: 1 << 30, Processes: 50, FileSize: 1 << 20, CPU: 3 * time.Second}}
	s := Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "x"}, Dir: root, Env: []string{"SECRET=hidden", "HOME=/h"}, Terminal: &Size{}}
	args := containerArgs(p, s, "name", "image", "docker")
	text := strings.Join(args, " ")
	for _, want := range []string{"--network none", "--cap-drop ALL", "--read-only", "--security-opt no-new-privileges", "--pull never", "--tty", "--memory 1073741824", "--pids-limit 50", "--ulimit fsize=1048576", "--ulimit cpu=3",
		"--mount type=bind,source=" + root + ",target=" + root + " ", ".git/config,readonly", "--tmpfs " + root + "/secret:ro", "--env SECRET ", "--env HOME=/h", "--workdir " + root, "--entrypoint /bin/sh image"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "hidden") || strings.Contains(text, "/home/x") || args[len(args)-1] != "image" {
		t.Errorf("%s", text)
	}
	p.Mode = ReadOnly
	if text := strings.Join(containerArgs(p, s, "name", "image", "podman"), " "); !strings.Contains(text, "target="+root+",readonly") || !strings.Contains(text, "keep-id") {
		t.Errorf("%s", text)
	}
	for _, bad := range []string{"/a,b", "/a:b", "/etc/x", "/proc", "/run/docker.sock", "/a\nb"} {
		if containerPaths(Policy{Workspace: bad}) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bwrap"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(dir, "bwrap"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if path, err := findProgram("bwrap", Policy{Workspace: "/elsewhere"}); err != nil || path != filepath.Join(dir, "bwrap") {
		t.Errorf("%s, %v", path, err)
	}
	if _, err := findProgram("bwrap", Policy{Workspace: dir}); err == nil {
		t.Error("a program out of the workspace was taken")
	}
	t.Setenv("PATH", ".:relative:"+dir+"/none")
	if _, err := findProgram("bwrap", Policy{Workspace: "/elsewhere"}); err == nil {
		t.Error("a program of a relative folder was taken")
	}
}

func TestDenials(t *testing.T) {
	p := Policy{Mode: WorkspaceWrite, Workspace: "/w", Writable: []string{"/cache"}, Unreadable: []string{"/home/u/.ssh", "/w/.env"}, Protected: DefaultProtected(), Network: NetLoopback}
	spaces, landlock := Report{Driver: Namespaces, Policy: p}, Report{Driver: Landlock, Policy: p}
	for _, c := range []struct {
		name   string
		report Report
		line   string
		want   Denial // without the line; zero for none
	}{
		{"touch", spaces, "touch: cannot touch '/etc/x': Read-only file system", Denial{Op: OpWrite, Path: "/etc/x"}},
		{"shell", spaces, "sh: 1: cannot create ../out/x: Read-only file system", Denial{Op: OpWrite, Path: "/out/x"}},
		{"python", spaces, "OSError: [Errno 30] Read-only file system: '/opt/x'", Denial{Op: OpWrite, Path: "/opt/x"}},
		{"node", spaces, "Error: EROFS: read-only file system, open '/opt/y'", Denial{Op: OpWrite, Path: "/opt/y"}},
		{"F108 go", spaces, "open /root/.cache/go-build/ab/x: read-only file system", Denial{Op: OpWrite, Path: "/root/.cache/go-build/ab/x"}},
		{"L68 cargo", spaces, "error: failed to open `/root/.cargo/registry/.package-cache`: Read-only file system (os error 30)", Denial{Op: OpWrite, Path: "/root/.cargo/registry/.package-cache"}},
		{"no name", spaces, "error: Read-only file system", Denial{Op: OpWrite}},
		{"hidden folder", spaces, "cat: /home/u/.ssh/id_ed25519: Permission denied", Denial{Op: OpRead, Path: "/home/u/.ssh/id_ed25519"}},
		{"hidden in the workspace", spaces, "cat: .env: Permission denied", Denial{Op: OpRead, Path: "/w/.env"}},
		{"somebody else's file", spaces, "cat: /w/private: Permission denied", Denial{}},
		{"outside, not ours", spaces, "cat: /var/log/x: Permission denied", Denial{}},
		{"ssh key", spaces, "git@host: Permission denied (publickey).", Denial{}},
		{"F107 git config", spaces, "error: could not lock config file .git/config: Read-only file system", Denial{Op: OpWrite, Path: "/w/.git/config"}},
		{"rename of .git", spaces, "mv: cannot move '.git' to 'g': Device or resource busy", Denial{Op: OpWrite, Path: "/w/.git"}},
		{"landlock write", landlock, "sh: 1: cannot create /out/x: Permission denied", Denial{Op: OpWrite, Path: "/out/x"}},
		{"landlock in the workspace", landlock, "sh: 1: cannot create x: Permission denied", Denial{}},
		{"curl", spaces, "curl: (6) Could not resolve host: example.com", Denial{Op: OpConnect, Host: "example.com"}},
		{"git clone", spaces, "fatal: unable to access 'https://example.com/r.git/': Could not resolve host: example.com", Denial{Op: OpConnect, Host: "example.com"}},
		{"npm", spaces, "npm ERR! getaddrinfo ENOTFOUND registry.example.org", Denial{Op: OpConnect, Host: "registry.example.org"}},
		{"go get", spaces, "dial tcp: lookup proxy.example.org: no such host", Denial{Op: OpConnect, Host: "proxy.example.org"}},
		{"proxy", spaces, "curl: (56) CONNECT tunnel failed, response 403", Denial{Op: OpConnect}},
		{"our proxy", spaces, "The fence around this command does not let it reach example.com:80: it is not among the allowed hosts.", Denial{Op: OpConnect, Host: "example.com:80"}},
		{"F104 socket", spaces, "PermissionError: [Errno 1] Operation not permitted (socket)", Denial{Op: OpConnect}},
		{"strace", spaces, "strace: ptrace(PTRACE_TRACEME): Operation not permitted", Denial{Op: OpSystem}},
		{"unshare", spaces, "unshare: unshare failed: Operation not permitted", Denial{Op: OpSystem}},
		{"nothing", spaces, "ok github.com/x/y 0.1s", Denial{}},
		{"a test that speaks of it", spaces, "expected EACCES for root", Denial{}},
		{"none", Report{Driver: None, Policy: p}, "touch: cannot touch '/etc/x': Read-only file system", Denial{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Denials(c.report, "/w", "before\n"+c.line+"\nafter\n")
			if c.want == (Denial{}) {
				if len(got) != 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			c.want.Line = c.line
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
	var many strings.Builder
	for i := range 1000 {
		many.WriteString("touch: cannot touch '/etc/" + strings.Repeat("x", i) + "': Read-only file system\n")
	}
	got := Denials(spaces, "/w", strings.Repeat("y", 1<<20)+"\n"+many.String())
	if len(got) != maxDenials || len(got[0].Line) > maxDenialLine {
		t.Errorf("%d denials", len(got))
	}
}

func FuzzDenials(f *testing.F) {
	f.Add("/w", "touch: cannot touch '/etc/x': Read-only file system")
	f.Add("/w", "curl: (6) Could not resolve host: example.com\nEACCES \xff ‘a’ ..//../x: Permission denied")
	r := Report{Driver: Landlock, Policy: Policy{Mode: WorkspaceWrite, Workspace: "/w", Unreadable: []string{"/s"}, Protected: DefaultProtected()}}
	f.Fuzz(func(t *testing.T, dir, text string) {
		for _, d := range Denials(r, filepath.Join("/", dir), text) {
			if d.Path != "" && (!filepath.IsAbs(d.Path) || filepath.Clean(d.Path) != d.Path) {
				t.Errorf("path %q", d.Path)
			}
			if len(d.Line) > maxDenialLine {
				t.Errorf("a line of %d bytes", len(d.Line))
			}
		}
	})
}

func TestProbe(t *testing.T) {
	found, err := Probe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ok := false
	for _, f := range found {
		ok = ok || f.OK
		if f.OK == (f.Reason != "") {
			t.Errorf("%+v", f)
		}
		t.Logf("%s: %v %s, built in %v, first command %v; open: %q", f.Driver, f.OK, f.Reason, f.Opening, f.Command, f.Open)
	}
	if !ok {
		t.Error("no driver works here")
	}
}
