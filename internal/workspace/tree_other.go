//go:build !linux

package workspace

// newTree opens a folder.
func newTree(dir string) (tree, error) { return newRootTree(dir) }
