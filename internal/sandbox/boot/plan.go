//go:build linux && (amd64 || arm64)

package boot

// A Plan is all that a fence process is told. Every path in it is absolute and
// free of symbolic links.
type Plan struct {
	// UID and GID are those of the owner.
	UID, GID uint64
	// Free leaves the file system writable and /tmp, /run and /dev as they are.
	Free bool
	// Writable are the trees that commands may write in. Visible are those that
	// they must see although they lie in a folder that the fence replaces.
	Writable, Visible []string
	// Root is the workspace. Protected are paths below it that stay read-only.
	Root      string
	Protected []string
	// Hidden are files, sockets and folders that an empty one is put over.
	Hidden []string
	// Temp is the size of /tmp in bytes.
	Temp uint64
	// Loopback brings the loopback interface up; Door listens on it for the proxy.
	Loopback, Door bool
	// Ruleset and Filter are put on every slot.
	Ruleset Ruleset
	Filter  []byte
	// Limits are resource limits of each process of a command by number, soft and
	// hard the same; maxLimits at most.
	Limits [][2]uint64
	// Pids is how many processes and threads one command may have, or 0.
	Pids uint64
}

// Bytes returns the plan as a message.
func (p *Plan) Bytes() []byte {
	b := &Buf{B: []byte{0}}
	b.Uint(flag(p.Free) | flag(p.Loopback)<<1 | flag(p.Door)<<2)
	b.Uint(p.UID)
	b.Uint(p.GID)
	b.List(p.Writable)
	b.List(p.Visible)
	b.Str(p.Root)
	b.List(p.Protected)
	b.List(p.Hidden)
	b.Uint(p.Temp)
	r := &p.Ruleset
	b.Uint(r.FS)
	b.Uint(r.Net)
	b.Uint(r.Scoped)
	b.Uint(uint64(len(r.Rules)))
	for _, rule := range r.Rules {
		b.Str(rule.Path)
		b.Uint(rule.Access)
	}
	b.Str(string(p.Filter))
	b.Uint(p.Pids)
	b.Uint(uint64(len(p.Limits)))
	for _, l := range p.Limits {
		b.Uint(l[0])
		b.Uint(l[1])
	}
	return b.B
}

func takePlan(b *Buf) *Plan {
	p := &Plan{}
	f := b.TakeUint()
	p.Free, p.Loopback, p.Door = f&1 != 0, f&2 != 0, f&4 != 0
	p.UID, p.GID = b.TakeUint(), b.TakeUint()
	p.Writable = b.TakeList()
	p.Visible = b.TakeList()
	p.Root = b.TakeStr()
	p.Protected = b.TakeList()
	p.Hidden = b.TakeList()
	p.Temp = b.TakeUint()
	p.Ruleset.FS, p.Ruleset.Net, p.Ruleset.Scoped = b.TakeUint(), b.TakeUint(), b.TakeUint()
	for n := b.TakeUint(); n > 0 && !b.Bad; n-- {
		p.Ruleset.Rules = append(p.Ruleset.Rules, Rule{b.TakeStr(), b.TakeUint()})
	}
	p.Filter = []byte(b.TakeStr())
	p.Pids = b.TakeUint()
	for n := b.TakeUint(); n > 0 && !b.Bad; n-- {
		p.Limits = append(p.Limits, [2]uint64{b.TakeUint(), b.TakeUint()})
	}
	return p
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// A Command is one run in a slot; its first three files come with it unless
// it has a terminal.
type Command struct {
	Path, Dir  string
	Argv, Env  []string
	Terminal   bool
	Rows, Cols uint16
}

// Bytes returns the command as a message.
func (c *Command) Bytes() []byte {
	b := &Buf{B: make([]byte, 0, 1<<10)}
	b.B = append(b.B, AskRun)
	b.Uint(flag(c.Terminal) | uint64(c.Rows)<<16 | uint64(c.Cols)<<32)
	b.Str(c.Path)
	b.Str(c.Dir)
	b.List(c.Argv)
	b.List(c.Env)
	return b.B
}

func takeCommand(b *Buf) *Command {
	f := b.TakeUint()
	c := &Command{Terminal: f&1 != 0, Rows: uint16(f >> 16), Cols: uint16(f >> 32)}
	c.Path, c.Dir = b.TakeStr(), b.TakeStr()
	c.Argv, c.Env = b.TakeList(), b.TakeList()
	return c
}

// An End is how a command ended: its wait status, its use of the machine, and
// whether processes of it may be left.
type End struct {
	Status            uint32
	UserUS, SystemUS  uint64
	MaxRSSKiB         uint64
	InBlock, OutBlock uint64
	Left              bool
}

func (e *End) bytes() []byte {
	b := &Buf{B: make([]byte, 0, 64)}
	b.B = append(b.B, Ended)
	for _, n := range []uint64{uint64(e.Status), e.UserUS, e.SystemUS, e.MaxRSSKiB, e.InBlock, e.OutBlock, flag(e.Left)} {
		b.Uint(n)
	}
	return b.B
}

// TakeEnd reads an End.
func TakeEnd(b *Buf) End {
	e := End{Status: uint32(b.TakeUint())}
	for _, n := range []*uint64{&e.UserUS, &e.SystemUS, &e.MaxRSSKiB, &e.InBlock, &e.OutBlock} {
		*n = b.TakeUint()
	}
	e.Left = b.TakeUint() == 1
	return e
}
