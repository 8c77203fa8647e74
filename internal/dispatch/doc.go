// Package dispatch takes one call, or a batch of them, through the journey:
// the ordered list of steps in journey.go. Every call from every origin goes
// this way; who asks is data on the call.
package dispatch
