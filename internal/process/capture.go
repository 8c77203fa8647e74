package process

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/handrail-tools/handrail/internal/terminal"
	"github.com/handrail-tools/handrail/internal/textfile"
)

const (
	// MaxSpool is how much of an output is kept whole, in bytes. A build that
	// says more has its end in the tail.
	MaxSpool = 64 << 20

	// sniffed is how much of an output decides whether it is text, in bytes.
	sniffed = 8 << 10
)

// A Capture takes in what a command writes. Its methods may be called from
// several goroutines at once.
type Capture struct {
	mu     sync.Mutex
	filter *terminal.Filter
	kept   headTail
	raw    int64 // bytes that were written, as they came

	first  []byte // the first bytes, until it is known what they are
	known  bool
	binary string // what it is, "" for text

	dir    string // where the whole may be kept, "" for nowhere
	spool  *os.File
	whole  int64 // bytes in spool
	capped bool  // more came than MaxSpool, or the disk refused
}

// newCapture returns a capture that keeps so much of the beginning and of the
// end, and the whole in a file without a name in dir once that is exceeded.
func newCapture(head, tail int, dir string) *Capture {
	c := &Capture{kept: headTail{headMax: head, tailMax: tail}, dir: dir}
	c.filter = terminal.NewFilter(c.keep)
	return c
}

// Write takes the next piece. It never fails: what cannot be kept is counted.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw += int64(len(p))
	if !c.known {
		c.first = append(c.first, p[:min(len(p), sniffed-len(c.first))]...)
		if len(c.first) == sniffed {
			c.decide(false)
		}
	}
	if c.binary == "" {
		_, _ = c.filter.Write(p)
	}
	return len(p), nil
}

// decide tells from the first bytes whether the output is text.
func (c *Capture) decide(whole bool) {
	c.known = true
	if kind := textfile.Sniff(c.first, whole); kind.Binary {
		c.binary = kind.What
		c.kept.head, c.kept.tail, c.kept.cut = nil, nil, 0
		c.closeSpool()
	}
	c.first = nil
}

// keep takes plain text from the filter.
func (c *Capture) keep(p []byte) {
	if c.dir != "" && !c.capped {
		c.spoolOut(p)
	}
	c.kept.write(p)
}

// spoolOut writes the next piece to the file, from the moment on at which the
// buffer can no longer hold everything.
func (c *Capture) spoolOut(p []byte) {
	if c.spool == nil {
		if c.kept.len()+int64(len(p)) <= int64(c.kept.headMax+c.kept.tailMax) {
			return
		}
		if c.spool = openSpool(c.dir); c.spool == nil {
			c.capped = true
			return
		}
		c.append(c.kept.head)
		c.append(c.kept.tail)
	}
	c.append(p)
}

func (c *Capture) append(p []byte) {
	if room := MaxSpool - c.whole; int64(len(p)) > room {
		p, c.capped = p[:room], true
	}
	n, err := c.spool.Write(p)
	c.whole += int64(n)
	c.capped = c.capped || err != nil
}

// openSpool makes a file that nobody else can open and that goes with this
// process.
func openSpool(dir string) *os.File {
	f, err := os.CreateTemp(dir, "output-")
	if err != nil {
		return nil
	}
	_ = os.Remove(f.Name()) // where that is not possible while it is open, closeSpool does it
	return f
}

func (c *Capture) closeSpool() {
	if c.spool == nil {
		return
	}
	name := c.spool.Name()
	_ = c.spool.Close()
	_ = os.Remove(name)
	c.spool, c.whole, c.capped = nil, 0, false
}

// finish ends the output.
func (c *Capture) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		c.decide(true)
	}
	if c.binary == "" {
		_ = c.filter.Close()
	}
}

// Text returns what there is to read: the beginning and the end of a long
// output, and one line about one that is not text.
func (c *Capture) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.describe(c.kept.text())
}

func (c *Capture) describe(text string) string {
	if c.binary != "" {
		return fmt.Sprintf("[the output is %s, %d bytes; it is not shown]", c.binary, c.raw)
	}
	return text
}

// Binary reports whether what was written is not text.
func (c *Capture) Binary() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.binary != ""
}

// Take returns what came since the last time, and the line that is not
// finished, and how many bytes of it were not kept.
func (c *Capture) Take() (text string, omitted int64) {
	text, omitted, _ = c.TakeWhole(nil)
	return text, omitted
}

// TakeWhole is [Capture.Take] for one who also wants what the text leaves out:
// where some bytes of it are not kept, use is called with all that came since
// the last time, as by [Capture.Whole]. nil is not called. The error is that
// of use.
func (c *Capture) TakeWhole(use func(r *io.SectionReader, capped bool) error) (text string, omitted int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.binary != "" {
		return c.describe(""), 0, nil
	}
	if use != nil && c.spool != nil && c.kept.omitted() > 0 {
		err = use(io.NewSectionReader(c.spool, 0, c.whole), c.capped)
	}
	c.closeSpool()
	text, omitted = c.kept.take()
	return text + string(c.filter.TakePartial()), omitted, err
}

// Last returns the last n bytes of the finished lines that came since the last
// time, or all where there are fewer.
func (c *Capture) Last(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.last(n)
}

// Size returns how many bytes were written.
func (c *Capture) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw
}

// Whole calls use with the whole output where Text does not have it, and
// reports false where there is no more than Text has. capped says that there
// was more than [MaxSpool].
func (c *Capture) Whole(use func(r *io.SectionReader, capped bool) error) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spool == nil || c.kept.omitted() == 0 {
		return false, nil
	}
	return true, use(io.NewSectionReader(c.spool, 0, c.whole), c.capped)
}

// Close frees the file. What still comes is kept as before, but no longer
// whole.
func (c *Capture) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeSpool()
	c.dir = ""
}
