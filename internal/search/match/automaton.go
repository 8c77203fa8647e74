package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// automaton is a deterministic automaton over the program of a pattern. Its
// states are sets of program counters and are made when first needed.
//
// Within lines, "\n" always leads back to the start, so parts of a text that
// begin at a line can be read in any order, or in step. Across lines it is a
// character like others.
//
// The table has a row for each state and a column for each class of runes
// that the program cannot tell apart. An entry is the first place of the
// next state's row, or negative: then the low bits are the row that was
// left, and the high bits say why.
type automaton struct {
	prog  *syntax.Prog
	lines bool

	bounds  []rune     // class i is bounds[i] up to bounds[i+1], in column i+1
	column  [256]int32 // column of a byte; 0 for those outside ASCII
	columns int

	table  []int32
	states []string // key of each state
	rows   map[string]int32
	start  int32 // at the start of the text
	bytes  int   // memory of states and rows, roughly
	clears int   // how often the states were forgotten

	// wordy says that the program looks at word boundaries.
	wordy bool
	// foreign is the column of all runes outside ASCII where the program
	// cannot tell them apart, else 0.
	foreign int32

	// Scratch for step.
	stack []uint32
	mark  []uint32
	round uint32
	next  []uint32

	// cursors are kept for their space.
	cursors [cursors]cursor

	// stop, where it is set by another goroutine, ends the reading.
	stop  *atomic.Bool
	steps int
}

const (
	// entryUnknown marks an entry that has not been worked out.
	entryUnknown = -1 << 31
	// entryMatch marks an entry before which a match ends.
	entryMatch = entryUnknown | 1<<30
	// entryRow takes the row out of a negative entry.
	entryRow = 1<<30 - 1

	// maxMemory bounds table and states of one automaton, in bytes. At most
	// eight work at once on four cores, so they take 16 MiB together.
	maxMemory = 2 << 20
)

// The first byte of a state's key: what the program may ask of the text
// before.
const (
	atText byte = 1 << iota // at the start of the text
	atLine                  // at the start of a line
	inWord                  // after a word character
)

func newAutomaton(p *Pattern, stop *atomic.Bool) *automaton {
	a := &automaton{prog: p.prog, lines: p.lines, stop: stop, mark: make([]uint32, len(p.prog.Inst))}
	a.classify()
	a.clear()
	return a
}

// clear forgets all states.
func (a *automaton) clear() {
	a.table, a.states, a.bytes = a.table[:0], a.states[:0], 0
	a.clears++
	a.rows = map[string]int32{}
	// Row 0 stays unused, so that no row is mistaken for "none".
	a.row(string([]byte{0xff}))
	a.start = a.row(a.key(atText|atLine, []uint32{uint32(a.prog.Start)}))
}

func (a *automaton) key(flags byte, pcs []uint32) string {
	b := make([]byte, 1, 1+4*len(pcs))
	b[0] = flags
	for _, pc := range pcs {
		b = binary.LittleEndian.AppendUint32(b, pc)
	}
	return string(b)
}

// row returns the row of the state with that key.
func (a *automaton) row(key string) int32 {
	if row, ok := a.rows[key]; ok {
		return row
	}
	row := int32(len(a.table))
	a.rows[key] = row
	a.states = append(a.states, key)
	a.table = slices.Grow(a.table, a.columns)
	for range a.columns {
		a.table = append(a.table, entryUnknown|row)
	}
	a.bytes += 4*a.columns + len(key) + 100
	return row
}

// endOfText stands for the rune after the last.
const endOfText rune = -1

// advance reads one rune of text in state row and returns the entry for it,
// which it enters into the table. others are rows that must stay valid when
// the table is cleared on the way; they are changed in place.
func (a *automaton) advance(row int32, r rune, others []int32) int32 {
	column := a.class(r)
	if entry := a.table[row+column]; entry >= 0 || entry&entryMatch == entryMatch {
		return entry
	}
	if a.bytes > maxMemory {
		keys := []string{a.states[int(row)/a.columns]}
		for _, other := range others {
			keys = append(keys, a.states[int(other)/a.columns])
		}
		a.clear()
		row = a.row(keys[0])
		for i, key := range keys[1:] {
			others[i] = a.row(key)
		}
	}
	entry := a.step(row, r)
	if entry < 0 {
		entry = entryMatch | row
	}
	a.table[row+column] = entry
	return entry
}

// shortcut notes that a rune outside ASCII led from a state to another one.
// Where such runes keep the automaton there, their number does not matter,
// so each of their bytes may be read like the rune: it need not be decoded.
func (a *automaton) shortcut(from, to int32) {
	if a.foreign != 0 && a.table[to+a.foreign] == to {
		a.table[from] = to
	}
}

// stopped reports now and then whether the reading must end. It is asked
// where time goes: at each new state and each rune outside ASCII.
func (a *automaton) stopped() bool {
	a.steps++
	return a.steps&255 == 0 && a.stop != nil && a.stop.Load()
}

// matchesAtEnd reports whether a match ends where the text does.
func (a *automaton) matchesAtEnd(row int32) bool { return a.step(row, endOfText) < 0 }

// step works out where rune r leads from a state: to another row, or to a
// match that ends before r (-1).
func (a *automaton) step(row int32, r rune) int32 {
	key := a.states[int(row)/a.columns]
	flags := key[0]
	asked := a.before(flags, r)
	a.round++
	a.stack = a.stack[:0]
	for i := len(key) - 4; i >= 1; i -= 4 {
		a.stack = append(a.stack, binary.LittleEndian.Uint32([]byte(key[i:i+4])))
	}
	a.next = a.next[:0]
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.mark[pc] == a.round {
			continue
		}
		a.mark[pc] = a.round
		switch in := &a.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return -1
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^asked == 0 {
				a.stack = append(a.stack, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r != endOfText && in.MatchRune(r) {
				a.next = append(a.next, in.Out)
			}
		}
	}
	if r == endOfText || r == '\n' && a.lines {
		return a.start
	}
	// A match may also begin after r.
	a.next = append(a.next, uint32(a.prog.Start))
	slices.Sort(a.next)
	a.next = slices.Compact(a.next)
	return a.row(a.key(a.after(r), a.next))
}

// before returns what holds between the text before and r.
func (a *automaton) before(flags byte, r rune) syntax.EmptyOp {
	var holds syntax.EmptyOp
	if flags&atText != 0 {
		holds |= syntax.EmptyBeginText
	}
	if flags&atLine != 0 {
		holds |= syntax.EmptyBeginLine
	}
	if r == '\n' || r == endOfText {
		holds |= syntax.EmptyEndLine
	}
	if r == endOfText || r == '\n' && a.lines {
		holds |= syntax.EmptyEndText
	}
	if (flags&inWord != 0) != (r != endOfText && isWord(r)) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}

// after returns the flags of the state that follows r.
func (a *automaton) after(r rune) byte {
	switch {
	case r == '\n':
		return atLine
	case a.wordy && isWord(r):
		return inWord
	}
	return 0
}

// isWord is \w, which is ASCII in this syntax.
func isWord(r rune) bool { return r < utf8.RuneSelf && syntax.IsWordChar(r) }
