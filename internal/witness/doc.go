// Package witness tells what a command changed in a workspace, and keeps what
// was there before, so that it can be undone like the change of any tool.
//
// A tool that edits says beforehand what it will write. A command does not,
// so the workspace is looked at before and after it: one look at each file's
// size, times, number and mode, and at nothing else. What differs was
// changed, and is read.
//
// The content from before must be known by then. It is in the shadow: a file
// without a name in the state folder, into which the first look of a session
// copies every file and each later one those that are new or different. A
// copy is made and not a link, because a hard link shares what is written
// into the file; that of a whole workspace takes a moment once (some 60 ms for
// 5,000 files) and nothing after.
//
// # What falls outside
//
// Files that ignore rules leave out, unless they are asked for; what is under
// .git and .handrail; what may not be read; folders that are empty. Of more
// than 100,000 files nothing is told. Content is not kept of a file of more
// than 8 MiB, nor beyond 256 MiB in all: that such a file changed is told, and
// that it cannot be undone. What a person changes while
// a command runs counts as the command's. A file that was changed and changed
// back within the time that the file system's clock cannot tell apart is read
// again where that can be.
package witness
