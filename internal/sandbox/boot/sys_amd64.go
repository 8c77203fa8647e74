//go:build linux

package boot

const (
	sysSeccomp     = 317
	sysMemfdCreate = 319
	sysPrlimit     = 302
	sysSetns       = 308
	sysStatx       = 332
)
