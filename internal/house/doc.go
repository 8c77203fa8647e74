// Package house holds the rules of this repository as tests: how long a file
// may be, what every package must say of itself, which words may not appear,
// how many dependencies there may be, and that the pages agree with what they
// describe. It has no code of its own.
package house
