// Package guard notices when an agent goes round in circles: the same
// malformed call again and again, the same calls with the same results, the
// same error with changing arguments, one file rewritten over and over.
//
// It only counts and compares; what to do about it is for the caller, which
// asks [Guard.Before] whether a call may run and tells [Guard.After] how it
// ended.
package guard

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/handrail-tools/handrail/tool"
)

// Level says how far a guard goes.
type Level uint8

const (
	// Enforce gives hints and refuses to go on with a loop. It is the zero
	// value.
	Enforce Level = iota
	// Advise gives hints and refuses nothing: for a caller that has loop
	// guards of its own, or that polls on purpose.
	Advise
	// Off notices nothing.
	Off
)

// The thresholds. octos stops at three identical calls and looks for cycles
// of one to three calls in a window of twelve; its churn hint comes at every
// fifth write of one file and asks for help from the tenth.
const (
	repeatFailures = 3  // identical failing calls before the next is refused
	sameError      = 5  // equal errors of one tool before a hint
	window         = 12 // calls that are remembered
	longestCycle   = 3  // calls in the longest cycle that is recognised
	cycleRounds    = 3  // rounds of a cycle before a hint
	churnHint      = 5  // writes of one file between two hints
	churnStop      = 10 // writes of one file before the host is told
	maxFiles       = 512
)

// Guard watches the calls of one session. It is safe for concurrent use.
type Guard struct {
	level Level
	seed  maphash.Seed // nobody outside can look for collisions

	mu       sync.Mutex
	ring     []lap
	warned   []lap // the cycle that was hinted at last
	failing  map[digest]int
	errors   map[digest]int
	churn    map[digest]int
	fileRing []digest // churn's keys, oldest first
}

// digest stands for a call, a result, an error or a path, whose own length
// nothing bounds. Two that differ share one with a chance of 2^-64.
type digest uint64

// lap is one call and how it ended.
type lap struct{ call, result digest }

// New returns a guard of that level.
func New(level Level) *Guard {
	return &Guard{level: level, seed: maphash.MakeSeed(), failing: map[digest]int{}, errors: map[digest]int{}, churn: map[digest]int{}}
}

// Finding is what a guard has noticed.
type Finding struct {
	// Kind is a stable label: "repeated_failure", "cycle", "same_error" or
	// "churn".
	Kind string
	// Text is for the model.
	Text string
	// Stop asks the host to end the turn: hints have not helped.
	Stop bool
}

// Before says whether a call may run. A non-nil finding refuses it. It only
// looks: the refusal counts once After is told of it.
func (g *Guard) Before(name string, args []byte) *Finding {
	if g == nil || g.level != Enforce {
		return nil
	}
	call := g.call(name, args)
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.failing[call]; n >= repeatFailures {
		return &Finding{
			Kind: "repeated_failure", Stop: n > repeatFailures,
			Text: fmt.Sprintf("not run: this exact call of %s has failed %d times in a row with these arguments. "+
				"Change the arguments, or use another tool.", tool.Clip(name), repeatFailures),
		}
	}
	if len(g.warned) > 0 && g.continues(call) {
		return &Finding{
			Kind: "cycle", Stop: true,
			Text: fmt.Sprintf("not run: the last calls repeat the same %d call(s) with the same results. "+
				"Use what they have already returned, or do something else.", len(g.warned)),
		}
	}
	return nil
}

// After records how a call ended and returns what to tell the model, or nil.
func (g *Guard) After(name string, args []byte, res *tool.Result) *Finding {
	if g == nil || g.level == Off || res.Code == tool.CodeCancelled {
		return nil
	}
	call := g.call(name, args)
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.countFailure(name, call, res); f != nil {
		return f
	}
	if f := g.countChurn(res); f != nil {
		return f
	}
	return g.countCycle(lap{call, g.ending(res)})
}

// countFailure follows identical failing calls and equal errors of one tool.
func (g *Guard) countFailure(name string, call digest, res *tool.Result) *Finding {
	if res.OK {
		clear(g.failing)
		clear(g.errors)
		return nil
	}
	if len(g.failing) >= maxFiles {
		clear(g.failing)
	}
	g.failing[call]++
	sign := g.digest(name, string(res.Code), signature(res.Text))
	if len(g.errors) >= maxFiles {
		clear(g.errors)
	}
	g.errors[sign]++
	if n := g.errors[sign]; n%sameError == 0 {
		return &Finding{
			Kind: "same_error", Stop: n >= 2*sameError,
			Text: fmt.Sprintf("%s has now failed %d times in the same way with different arguments. "+
				"The cause is not in the arguments you are changing: look at the state with another tool first.", tool.Clip(name), n),
		}
	}
	return nil
}

// countChurn follows files that are rewritten again and again.
func (g *Guard) countChurn(res *tool.Result) *Finding {
	if !res.OK {
		return nil
	}
	for _, path := range res.Changed {
		file := g.digest(path)
		if _, known := g.churn[file]; !known {
			g.fileRing = append(g.fileRing, file)
			if len(g.fileRing) > maxFiles {
				delete(g.churn, g.fileRing[0])
				g.fileRing = g.fileRing[1:]
			}
		}
		g.churn[file]++
		if n := g.churn[file]; n%churnHint == 0 {
			return &Finding{
				Kind: "churn", Stop: n >= churnStop,
				Text: fmt.Sprintf("%s has been changed %d times in this session. "+
					"Read it whole once and plan the remaining change before the next edit.", tool.Clip(path), n),
			}
		}
	}
	return nil
}

// countCycle follows short cycles of equal calls with equal results. A call
// whose result differs is polling and is left alone.
func (g *Guard) countCycle(l lap) *Finding {
	if len(g.ring) == window {
		copy(g.ring, g.ring[1:])
		g.ring = g.ring[:window-1]
	}
	g.ring = append(g.ring, l)
	for size := 1; size <= longestCycle; size++ {
		if !repeats(g.ring, size) {
			continue
		}
		g.warned = append(g.warned[:0], g.ring[len(g.ring)-size:]...)
		g.ring = g.ring[:0]
		return &Finding{
			Kind: "cycle",
			Text: fmt.Sprintf("the last %d calls repeat the same %d call(s) with the same results. "+
				"Calling again will not tell anything new.", size*cycleRounds, size),
		}
	}
	if len(g.warned) > 0 && !g.stillCycling() {
		g.warned = g.warned[:0]
	}
	return nil
}

// stillCycling reports whether everything since the hint follows the cycle.
func (g *Guard) stillCycling() bool {
	for i, l := range g.ring {
		if l != g.warned[i%len(g.warned)] {
			return false
		}
	}
	return true
}

// continues reports whether call would complete one more whole round of the
// cycle that was hinted at.
func (g *Guard) continues(call digest) bool {
	n, size := len(g.ring), len(g.warned)
	return n >= size-1 && g.stillCycling() && call == g.warned[n%size].call && n%size == size-1
}

// repeats reports whether the ring ends in cycleRounds rounds of size laps.
func repeats(ring []lap, size int) bool {
	n := size * cycleRounds
	if len(ring) < n {
		return false
	}
	tail := ring[len(ring)-n:]
	for i := size; i < n; i++ {
		if tail[i] != tail[i%size] {
			return false
		}
	}
	return true
}

// call identifies a tool with its arguments.
func (g *Guard) call(name string, args []byte) digest {
	var h maphash.Hash
	h.SetSeed(g.seed)
	h.WriteString(name)
	h.WriteByte(0)
	h.Write(args)
	return digest(h.Sum64())
}

// ending identifies how a call ended.
func (g *Guard) ending(res *tool.Result) digest { return g.digest(string(res.Code), res.Text) }

// digest identifies a row of texts.
func (g *Guard) digest(texts ...string) digest {
	var h maphash.Hash
	h.SetSeed(g.seed)
	for _, text := range texts {
		h.WriteString(text)
		h.WriteByte(0)
	}
	return digest(h.Sum64())
}

// signature reduces an error text to what stays the same while arguments
// change: words with digits, quotes, dots or slashes are left out.
func signature(text string) string {
	const most = 24
	var kept []string
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsAny(word, `0123456789/\."'`+"`") {
			continue
		}
		if kept = append(kept, word); len(kept) == most {
			break
		}
	}
	return strings.Join(kept, " ")
}
