//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"context"
	"runtime"
)

func openNamespaces(context.Context, Policy) (Fence, error) {
	return nil, notHere(Namespaces)
}

func openLandlock(context.Context, Policy) (Fence, error) {
	return nil, notHere(Landlock)
}

func notHere(d Driver) error {
	return &UnavailableError{Driver: d, Reason: "it is for Linux on amd64 and arm64; this is " + runtime.GOOS + "/" + runtime.GOARCH}
}

// seccompFilter is nil where there is no filter for the machine.
func seccompFilter(Policy) []byte { return nil }
