package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// buildProgram builds the program as `make build` does.
func buildProgram(tb testing.TB) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "handrail")
	cmd := exec.Command("go", "build", "-trimpath", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building the program: %v\n%s", err, out)
	}
	return name
}

// maxInit is how much our own packages may allocate before main, in bytes,
// all together. What is compiled then is compiled for every call from a
// shell; a table or an expression that costs more belongs in a
// sync.OnceValue.
const maxInit = 16 << 10

func TestStartDoesLittle(t *testing.T) {
	cmd := exec.Command(buildProgram(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	line := regexp.MustCompile(`init (\S*handrail-tools/\S+) .*, (\d+) bytes, \d+ allocs`)
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		total += n
		t.Logf("%s: %d bytes", m[1], n)
	}
	if total > maxInit {
		t.Errorf("our packages allocate %d bytes before main; at most %d", total, maxInit)
	}
}

func benchmarkStart(b *testing.B, args ...string) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	name := buildProgram(b)
	env := append(os.Environ(), "XDG_STATE_HOME="+b.TempDir(), "XDG_CONFIG_HOME="+b.TempDir())
	b.ResetTimer()
	for b.Loop() {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

// The cold starts of the program: a process for each iteration, its start by
// the kernel included.
func BenchmarkStartVersion(b *testing.B) { benchmarkStart(b, "version") }
func BenchmarkStartTools(b *testing.B)   { benchmarkStart(b, "tools") }
func BenchmarkStartCall(b *testing.B)    { benchmarkStart(b, "call", "read_file", "path=a.txt") }
