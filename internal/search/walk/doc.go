// Package walk visits the files of a tree with several goroutines.
//
// It begins at an open folder and reaches everything from there by
// descriptor, one name at a time and without following a link, so what it
// visits lies beneath the folder by construction. Opening a file never
// blocks.
//
// On Linux it speaks to the kernel directly: a file costs three system calls
// (open, read, close) and no allocation, and a folder's entries are read
// without asking for their attributes. Elsewhere it uses [os.Root]. The same
// tests run on both.
//
// Which files are visited is decided by the tree's ignore files (see package
// ignore) and by the [Config]. Whatever is left out is counted in [Left],
// since "nothing found" means little to a reader who does not know what was
// not looked at.
package walk
