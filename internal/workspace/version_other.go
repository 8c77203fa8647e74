//go:build !linux

package workspace

import (
	"io/fs"
	"reflect"
)

// sysNode adds what the system's own description of a file holds. The names
// of its fields differ between the systems and are the same within a family,
// so they are looked up by name: Ino is the inode everywhere, and a missing
// field leaves its zero.
func sysNode(n *node, info fs.FileInfo) {
	v := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if v.Kind() != reflect.Struct {
		return
	}
	n.version.Dev = fieldUint(v, "Dev")
	n.version.Inode = fieldUint(v, "Ino")
	if links := fieldUint(v, "Nlink"); links > 0 {
		n.links = links
	}
	if f := v.FieldByName("Uid"); f.IsValid() {
		n.uid, n.gid = int(fieldUint(v, "Uid")), int(fieldUint(v, "Gid"))
	}
	for _, name := range []string{"Ctimespec", "Ctim"} {
		if ts := v.FieldByName(name); ts.IsValid() && ts.Kind() == reflect.Struct {
			n.version.Changed = int64(fieldUint(ts, "Sec"))*1e9 + int64(fieldUint(ts, "Nsec"))
		}
	}
}

func fieldUint(v reflect.Value, name string) uint64 {
	f := v.FieldByName(name)
	switch {
	case !f.IsValid():
		return 0
	case f.CanUint():
		return f.Uint()
	case f.CanInt():
		return uint64(f.Int())
	default:
		return 0
	}
}
