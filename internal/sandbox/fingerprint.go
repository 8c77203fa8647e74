package sandbox

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
)

// maxFingerprint bounds how many files of one protected path are looked at.
// Hooks and settings are a handful.
const maxFingerprint = 2000

// fingerprints describes every protected path, so that a driver that cannot
// hold them can at least say which ones a command changed.
func (p Policy) fingerprints() []uint64 {
	prints := make([]uint64, len(p.Protected))
	for i, rel := range p.Protected {
		prints[i] = fingerprint(filepath.Join(p.Workspace, rel))
	}
	return prints
}

// changed lists the protected paths whose fingerprint is another than before.
func (p Policy) changed(before []uint64) []string {
	var list []string
	for i, print := range p.fingerprints() {
		if print != before[i] {
			list = append(list, p.Protected[i])
		}
	}
	return list
}

// fingerprint is over the names, kinds, sizes and times of what lies at path;
// nothing there is 0.
func fingerprint(path string) uint64 {
	h := fnv.New64a()
	seen := 0
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error { // what cannot be read is told by its absence
		if err != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if seen++; seen > maxFingerprint {
			return fs.SkipAll
		}
		_, _ = fmt.Fprintf(h, "%s %v %d %d\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano()) // a hash takes everything
		return nil
	})
	if seen == 0 {
		return 0
	}
	return h.Sum64()
}
