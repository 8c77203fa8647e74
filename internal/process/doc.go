// Package process runs commands and keeps hold of them: their pipes or their
// terminal, their output, their deadline, and every process that they start.
//
// Where a command runs is decided by a [sandbox.Fence]; this package starts
// it there and sees it to its end. It reads what the command writes while it
// runs, so that no pipe ever fills up, into a buffer that keeps the beginning
// and the end; the whole goes to a file that is removed with the command. It
// gives it /dev/null to read unless somebody wants to write to it. To stop a
// command means all that it started: they are asked, get a moment, and are
// killed.
//
// # What nothing escapes
//
// In a fence with a PID namespace no process can get away. Elsewhere a daemon
// can leave its session and its parent, so while such commands run, this
// process is the one that their orphans are given to (a "subreaper"), and
// tells its own by a mark in their environment. That is a setting of the
// whole process, which may be an embedder's: it is on only while a command
// runs outside of a PID namespace, and a child that does not bear the mark is
// never signalled and never waited for. What this cannot hold: a command that
// clears its environment, begins a session of its own and loses its parent,
// all three, before it is looked at.
//
// If this process is killed, the kernel kills the first process of each
// command; in a PID namespace everything else goes with it. Outside of one,
// what is left is recognised by its mark and ended when commands are started
// here again.
package process
