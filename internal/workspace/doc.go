// Package workspace is the one handle through which every tool touches
// files: a root folder, the further folders that were granted, and the rules
// about what may be read and written in them.
//
// # Check and use are one object
//
// A name that a model gives is turned into a path without symbolic links
// (the links are followed by this package, one by one, and never out of the
// folders that are open). That path is judged against the rules, and then
// opened beneath the folder's own descriptor in a way that refuses every
// symbolic link: with openat2 on Linux, component by component over
// [os.Root] elsewhere. Whoever swaps a folder for a link between the two
// steps makes the open fail; nothing else can be reached.
//
// Two things this cannot see. A hard link made beforehand gives a file a
// second honest name: it can be read through that name, and a write through
// it replaces only that name, so the other one keeps its content. A bind
// mount inside the root counts as part of it.
//
// # Writes
//
// A write fills a temporary file in the same folder, flushes it to the disk
// and renames it over the target, so a reader sees the old file or the new
// one, whole, whatever happens in between. Mode, extended attributes and,
// where the process may set them, owner and group are kept. See [Workspace.WriteFile].
//
// Several changes can be one: [Workspace.Apply] takes steps that write,
// remove, move and make, all of them or none. While it is under way a file
// that is replaced or removed keeps its old content under a further name,
// which is temporary: a fault takes everything back by renaming, and a
// process that is killed leaves each path old or new and an extra name that
// the next writer removes. What a [Recorder] is given before each change is
// enough to undo it.
//
// A folder that is moved takes its rules along: nothing in it may become
// readable, writable or hidden by the move. Between two looks at its content
// another program can still put something in; the second look is after the
// rename, and takes the move back.
//
// Writers of one folder take turns: inside a workspace by a lock that keeps
// the order of arrival, between processes by flock on the folder. A program
// that does not take the lock can still write between our last look at a
// file and the rename; that window is a few microseconds.
package workspace
