package workspace

import (
	"crypto/rand"
	"path"
	"strings"
)

// tempPrefix begins the name of every temporary file.
const tempPrefix = ".handrail-tmp-"

// IsTemp reports whether name, a single element, is that of a temporary file
// of this package. Listings leave such files out.
func IsTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// tempName makes a name that nobody can guess, so that nobody can put a link
// there first.
func tempName() string { return tempPrefix + rand.Text()[:16] }

// maxSweep bounds how many entries of a folder are looked at for leftovers.
const maxSweep = 100_000

// sweep removes temporary files that a killed process left in a folder. The
// caller holds the folder's lock, under which every temporary file lives and
// dies, so whatever is there belongs to nobody.
func sweep(d folder) {
	h := d.handle()
	for seen := 0; seen < maxSweep; {
		names, err := h.Readdirnames(1024)
		for _, name := range names {
			if IsTemp(name) {
				_ = d.remove(name)
			}
		}
		seen += len(names)
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// Stray tells the workspace that a listing met a temporary file at rel. It
// is removed if no writer can be alive, and left alone otherwise; a
// workspace that is read-only removes nothing.
func (w *Workspace) Stray(rel string) {
	at, err := w.locate(rel)
	if err != nil || !IsTemp(path.Base(at.path)) {
		return
	}
	if why, _ := w.unwritable(at, toWrite); why != "" {
		return
	}
	dir, leaf := parent(at.path)
	release, ok := w.locks.tryAcquire(lockKey{at.zone, dir})
	if !ok {
		return
	}
	defer release()
	d, err := at.zone.tree.folder(dir)
	if err != nil {
		return
	}
	defer func() { _ = d.close() }()
	if h := d.handle(); h != nil {
		if locked, err := tryFlock(h); locked && err == nil {
			_ = d.remove(leaf)
		}
	}
}
