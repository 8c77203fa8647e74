// Package match finds the lines of a text in which a regular expression has
// a match. It gives the same answer as the standard regexp package on every
// line, many times sooner.
//
// Goals, on one core of an ordinary server: a rare word at more than 5 GB/s,
// a pattern without any fixed word at about 1 GB/s, and never a time that
// grows faster than the text.
//
// A [Pattern] is compiled once and shared. Each goroutine searches with a
// [Matcher] of its own, which tries the cheapest way that is right:
//
//  1. Words that every match must contain are taken from the pattern. Where
//     there are some, only they are looked for, with vector instructions
//     where the processor has them.
//  2. A line that holds such a word is checked with an automaton, unless the
//     word is the whole pattern.
//  3. Where no word is certain, the automaton reads the text itself. Its
//     states are made when they are first needed and thrown away when they
//     take too much memory.
//
// The text is bytes and need not be UTF-8. A byte that is not part of a rune
// counts as one U+FFFD, as in the standard package.
//
// Lines end in "\n". A "\r" before that belongs to the line, and "$" also
// matches before it, so a pattern finds the same lines whatever the line
// endings are.
package match
