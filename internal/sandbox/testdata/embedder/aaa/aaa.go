// Package aaa has an init function that leaves a trace. Its name sorts before
// every package of Handrail.
package aaa

import (
	"fmt"
	"os"
	"path/filepath"
)

// Trace says that the package is linked.
const Trace = "inits"

func init() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(self), Trace), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, os.Getpid(), os.Args)
	if err := f.Close(); err != nil {
		panic(err)
	}
}
