//go:build race

package search

// slowdown is how much slower the race detector makes a search, at least.
const slowdown = 10
