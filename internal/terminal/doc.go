// Package terminal says what a person would read where a program wrote for a
// terminal.
//
// A [Filter] is for output that went through a pipe: lines that follow each
// other. It drops what colours and titles the text and lets a progress bar,
// which writes one line over and over, come out as the line that stands there
// in the end. A [Screen] is for a program in a terminal of its own: it draws
// what the program draws, and gives it back as text.
//
// Both take foreign bytes of any kind in pieces of any size, hold a bounded
// amount of memory whatever comes, and never fail. Neither is safe for use
// from several goroutines at once.
//
// The emulator is our own because those that exist ask too much for what is
// needed here: one brings fifteen modules, a millisecond of every start and
// draws 2 MB/s; the other has had no change since 2022 and takes each
// character for one column wide.
package terminal
