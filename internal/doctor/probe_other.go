//go:build !linux

package doctor

import (
	"context"
	"os"
	"runtime"
)

// system says that the fences of Linux are not here.
func system(context.Context) []Fact {
	return []Fact{{Group: "fence", Name: "kernel fences", State: Missing, Value: "not on " + runtime.GOOS,
		Matters: "the fence of this system is chosen by the sandbox itself"}}
}

// writable tries to make a file, since permission bits do not tell on every
// system.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".handrail-probe-*")
	if err != nil {
		return false
	}
	name := f.Name()
	return f.Close() == nil && os.Remove(name) == nil
}

func fileSystem(group, dir string) []Fact {
	f := Fact{Group: group, Name: "file system", State: OK, Value: "writable"}
	if !writable(dir) {
		f.State, f.Value, f.Matters = Missing, "not writable", "no tool can write here"
	}
	return []Fact{f}
}
