//go:build linux

package boot

const (
	sysSeccomp     = 317
	sysMemfdCreate = 319
	sysPrlimit     = 302
	sysStatx       = 332
)
