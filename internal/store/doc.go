// Package store keeps, in one state directory, what outlives a call: the
// ledger of whole results and the log of events.
//
// Any number of processes may use one directory at once, and each may be
// killed at any time. The directory belongs to one user and holds
//
//	journal/N         results not yet in the index, one file per process
//	ledger.db         the index: SQLite, with small results inside
//	blobs/ab/abcd…    large results and images, named by their SHA-256
//	events/DAY.N.jsonl  the events of a day, one JSON object a line
//
// A result is first written to a journal with one write: that takes
// microseconds, needs no database, and survives a kill of the process, so a
// command that runs one call never opens SQLite. A process that stays moves
// its journal into the index in the background, and adopts the journals
// that ended processes have left. A reader looks into the journals first
// and then into the index; since a result is committed to the index before
// it leaves its journal, it is always found in one of them.
//
// As with SQLite's synchronous=NORMAL, a power failure may lose what was
// written in the last seconds.
package store
