// Package history keeps what files were like before they were changed, so
// that a change can be shown and taken back. It needs no version control in
// the workspace and touches none.
//
// # Storage
//
// Each workspace has a folder below the state folder, named by a hash of its
// path. In it lie segments, files that are only ever appended to, each by
// one process at a time, which holds a lock on it. A segment is a row of
// frames: contents of files, each once, by their SHA-256, a content that
// differs little from another as the difference; what a change is about to
// do; and what became of it. A segment stands by itself, so the oldest ones
// can be removed whole.
//
// The contents and the intention are written with one write before the
// change happens. A process may be killed at any moment: a frame that is cut
// off counts for nothing, and nothing was changed yet; an intention without
// an end is an interrupted change, about which the files themselves tell.
// As with the ledger, a power failure may lose what was written in the last
// seconds.
//
// # Failure
//
// A change that cannot be recorded is refused: [Timeline.Begin] fails, and
// the workspace then changes nothing.
package history
