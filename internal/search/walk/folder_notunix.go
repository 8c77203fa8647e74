//go:build !unix

package walk

// openFlags are none: there are no pipes among the files of a folder.
const openFlags = 0
