//go:build linux && !amd64

package process

import "golang.org/x/sys/unix"

func isSelect(call int) bool { return call == unix.SYS_PSELECT6 }
func isPoll(call int) bool   { return call == unix.SYS_PPOLL }
