package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxXattr bounds one extended attribute, in bytes: the kernel's own limit.
const maxXattr = 64 << 10

// copyXattrs copies extended attributes, access control lists among them.
// What the process may not set (another user's security labels) or the file
// system does not keep is left out: a write must not fail for it.
func copyXattrs(from, to *os.File) {
	var small [512]byte
	names := small[:]
	src, dst := int(from.Fd()), int(to.Fd())
	n, err := unix.Flistxattr(src, names)
	if err == unix.ERANGE {
		names = make([]byte, maxXattr)
		n, err = unix.Flistxattr(src, names)
	}
	if err != nil || n == 0 {
		return
	}
	value := make([]byte, maxXattr)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00") {
		if n, err := unix.Fgetxattr(src, name, value); err == nil {
			_ = unix.Fsetxattr(dst, name, value[:n], 0)
		}
	}
}
