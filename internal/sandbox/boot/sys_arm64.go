//go:build linux

package boot

const (
	sysSeccomp     = 277
	sysMemfdCreate = 279
	sysPrlimit     = 261
	sysSetns       = 268
	sysStatx       = 291
)
