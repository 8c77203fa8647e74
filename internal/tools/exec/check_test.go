package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckers: each language's checker is found by what lies in the folder,
// run as it wants to be, and understood. The programs stand in for those that
// a machine may lack; what they say was said by the real ones.
func TestCheckers(t *testing.T) {
	const (
		cargo = `test "$*" = "check --message-format=json --quiet" || exit 9
echo '{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},"spans":[{"file_name":"src/main.rs","line_start":7,"is_primary":true}]}}'
echo '{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},"spans":[{"file_name":"src/main.rs","line_start":7,"is_primary":true}]}}'
echo '{"reason":"compiler-message","message":{"level":"warning","message":"unused variable: x","code":{"code":"unused_variables"},"spans":[{"file_name":"src/lib.rs","line_start":2,"is_primary":true}]}}'
exit 101`
		tsc = `test "$*" = "--noEmit --pretty false" || exit 9
echo "src/a.ts(3,14): error TS2322: Type 'string' is not assignable to type 'number'."
exit 2`
		ruff = `test "$*" = "check --output-format=concise --no-fix ." || exit 9
echo 'app/x.py:3:1: F401 [*] ` + "`os`" + ` imported but unused'
echo 'Found 1 error.'
exit 1`
		mypy    = `echo 'app/x.py:9: error: Incompatible return value type (got "int", expected "str")  [return-value]'; exit 1`
		broken  = `echo 'app/x.py:9: error: seen before'; touch /usr/handrail-x; exit 1`
		many    = `for i in $(seq 80); do echo "a.c:$i: error: no $i"; done; exit 1`
		network = `echo 'error: failed to download from https://index.crates.io: Could not resolve host: index.crates.io' >&2; exit 101`
	)
	for _, c := range []struct {
		name    string
		files   map[string]string
		want    []string
		without string
	}{
		{"rust", map[string]string{"Cargo.toml": "", "bin/cargo": cargo}, []string{"cargo check: 1 error, 1 warning", "src/main.rs:7: error[E0308]: mismatched types\nsrc/lib.rs:2: warning[unused_variables]: unused variable: x"}, ""},
		{"L68 rust without the network", map[string]string{"Cargo.toml": "", "bin/cargo": network}, []string{"cargo check did not check anything", "It needs the network", "connecting to index.crates.io", "not a mistake in the code"}, ""},
		{"typescript, the project's own", map[string]string{"tsconfig.json": "{}", "node_modules/.bin/tsc": tsc, "bin/tsc": "exit 8"}, []string{"tsc: 1 error, 0 warnings", "src/a.ts:3: error[TS2322]: Type 'string' is not"}, ""},
		{"typescript, the machine's", map[string]string{"tsconfig.json": "{}", "bin/tsc": tsc}, []string{"src/a.ts:3: error[TS2322]"}, ""},
		{"python with ruff", map[string]string{"pyproject.toml": "", "bin/ruff": ruff, "bin/mypy": "exit 8"}, []string{"python: 0 errors, 1 warning", "app/x.py:3: warning[F401]: [*] `os` imported"}, ""},
		{"python with mypy", map[string]string{"setup.cfg": "", "bin/mypy": mypy}, []string{"python: 1 error, 0 warnings", "app/x.py:9: error: Incompatible return value type"}, ""},
		{"L68 findings, and the fence", map[string]string{"setup.cfg": "", "bin/mypy": broken}, []string{"python: 1 error", "The fence kept it from: writing /usr/handrail-x", "This is not a mistake in the code"}, ""},
		{"more than are listed", map[string]string{"setup.cfg": "", "bin/mypy": many}, []string{"80 errors", "a.c:50: error: no 50", "... and 30 more", "is kept as the result r_1"}, "a.c:51"},
		{"not installed", map[string]string{"Cargo.toml": ""}, []string{"Not checked: cargo check is not installed"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			for name, text := range c.files {
				b.write(name, "#!/bin/sh\n"+text+"\n")
				if err := os.Chmod(filepath.Join(b.dir, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			b.kit.Environment.Set = []string{"PATH=" + filepath.Join(b.dir, "bin") + ":/usr/bin:/bin"}
			if _, err := os.Stat("/usr/bin/cargo"); err == nil && c.name == "not installed" {
				b.kit.Environment.Set = []string{"PATH=" + filepath.Join(b.dir, "bin")}
			}
			r := b.call(Check(), object{})
			for _, want := range c.want {
				if !contains(r.Text, want) {
					t.Errorf("%q is missing in\n%s", want, r.Text)
				}
			}
			if c.without != "" && contains(r.Text, c.without) {
				t.Errorf("%q is in\n%s", c.without, r.Text)
			}
			if len(b.kept) > 0 && !strings.Contains(b.kept[0], "a.c:80: error: no 80") {
				t.Errorf("kept is %q", b.kept[0])
			}
		})
	}
}
