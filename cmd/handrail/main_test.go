package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be the program, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"handrail": main})
}

// TestScript runs the archives of testdata/script: one behaviour each,
// against the real program. `go test ./cmd/handrail -run TestScript -update`
// rewrites what they compare with cmp.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(home, ".state"))
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"jsonkeys": jsonKeys,
			"jsonis":   jsonIs,
			"steady":   steady,
		},
	})
}

// exits CODE PROGRAM ARGS... runs a program and requires its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("the exit code is %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// jsonKeys FILE KEY... requires that each line of the file is one object that
// has these keys.
func jsonKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jsonkeys FILE KEY...")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		object := map[string]json.RawMessage{}
		ts.Check(json.Unmarshal([]byte(line), &object))
		for _, key := range args[1:] {
			if object[key] == nil {
				ts.Fatalf("the object has no key %q: %s", key, line)
			}
			delete(object, key)
		}
		if len(object) > 0 {
			ts.Fatalf("the object has further keys %v: %s", object, line)
		}
	}
}

// jsonIs FILE KEY JSON requires the value of a key of the file's one object.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] jsonis FILE KEY JSON")
	}
	object := map[string]any{}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &object))
	got, err := json.Marshal(object[args[1]])
	ts.Check(err)
	if (string(got) == args[2]) == neg {
		ts.Fatalf("%s is %s", args[1], got)
	}
}

// unsteady is what differs from run to run: times and the ids of results.
var unsteady = regexp.MustCompile(`"duration_ms":[0-9.e-]+|"result_id":"[^"]+"`)

// steady FILE OUT writes a copy of the file in which what differs from run to
// run is replaced.
func steady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: steady FILE OUT")
	}
	text := unsteady.ReplaceAllStringFunc(ts.ReadFile(args[0]), func(s string) string {
		key, _, _ := strings.Cut(s, ":")
		return key + `:"?"`
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}
