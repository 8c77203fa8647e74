//go:build !linux || !(amd64 || arm64)

package boot

// Supported says that this package can build fences on this system.
const Supported = false
