// Package statedir is a folder that belongs to one user and that only this
// user can look into: where Handrail keeps what outlives a call. What is in
// it may be secret, and what is read from it is believed; so a folder or
// file that somebody else owns, or could exchange, is refused, and a link is
// never followed.
package statedir
