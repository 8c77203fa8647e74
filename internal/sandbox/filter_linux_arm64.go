package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// refusedHere are refused calls that only this architecture has.
var refusedHere []uint32
