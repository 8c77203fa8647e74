//go:build linux && (amd64 || arm64)

package boot

import (
	"syscall"
	"unsafe"
)

// Message kinds. Each message is one datagram; its first byte is the kind.
const (
	// To the fence.
	AskSlot byte = 'S' // answered by HaveSlot with three files, or Failed
	AskHide byte = 'H' // list of paths; answered by Done or Failed
	AskLock byte = 'L' // list of paths to make read-only; same answers

	// To a slot.
	AskRun byte = 'X' // a Command with its files; answered by Begun or Failed, then Ended

	// Answers.
	Ready    byte = 'R' // the fence stands: its first slot as in HaveSlot, then the door's listener, if any
	HaveSlot byte = 'T' // list of notes; the slot's socket, its stub's socket and the stub's pidfd
	Begun    byte = 'B' // the command's pidfd, then its terminal, if any
	Ended    byte = 'D' // an End
	Done     byte = 'K' // list of the paths that are not there
	Failed   byte = 'E' // errno, then what was being done

	large byte = 'M' // the message is in the last file, because it is too long for a datagram
)

// maxDatagram is what fits into the default send buffer of a socket with room
// to spare. maxMessage is more than the kernel gives a program as arguments and
// environment together (6 MiB at its usual stack limit).
const (
	maxDatagram = 48 << 10
	maxMessage  = 16 << 20
	maxFiles    = 8
)

// A Buf is a message being written, or read from the front.
type Buf struct {
	B   []byte
	Bad bool // a read went past the end
}

// Uint writes a number.
func (b *Buf) Uint(n uint64) {
	b.B = append(b.B, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
}

// Str writes a text.
func (b *Buf) Str(s string) {
	b.Uint(uint64(len(s)))
	b.B = append(b.B, s...)
}

// List writes texts.
func (b *Buf) List(l []string) {
	b.Uint(uint64(len(l)))
	for _, s := range l {
		b.Str(s)
	}
}

// TakeUint reads a number; 0 past the end.
func (b *Buf) TakeUint() (n uint64) {
	if len(b.B) < 8 {
		b.Bad, b.B = true, nil
		return 0
	}
	for i := range 8 {
		n |= uint64(b.B[i]) << (8 * i)
	}
	b.B = b.B[8:]
	return n
}

// TakeStr reads a text; "" past the end.
func (b *Buf) TakeStr() string {
	n := b.TakeUint()
	if n > uint64(len(b.B)) {
		b.Bad, b.B = true, nil
		return ""
	}
	s := string(b.B[:n])
	b.B = b.B[n:]
	return s
}

// TakeList reads texts.
func (b *Buf) TakeList() []string {
	n := b.TakeUint()
	if n > uint64(len(b.B))/8 {
		b.Bad, b.B = true, nil
		return nil
	}
	l := make([]string, n)
	for i := range l {
		l[i] = b.TakeStr()
	}
	return l
}

// Send sends one message with open files. It blocks while the peer is busy.
func Send(sock int, msg []byte, files ...int) error {
	if len(msg) > maxDatagram {
		fd, err := memfd(msg)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		msg, files = []byte{large}, append(files[:len(files):len(files)], fd)
	}
	var oob []byte
	if len(files) > 0 {
		oob = syscall.UnixRights(files...)
	}
	for {
		err := syscall.Sendmsg(sock, msg, oob, nil, syscall.MSG_NOSIGNAL)
		if err != syscall.EINTR {
			return err
		}
	}
}

// Recv receives one message into buf, which must hold MaxDatagram bytes, or
// into new memory when it is larger. The end of the peer is EPIPE.
func Recv(sock int, buf []byte) (kind byte, body *Buf, files []int, err error) {
	var oob [128]byte
	n, on := 0, 0
	for {
		n, on, _, _, err = syscall.Recvmsg(sock, buf, oob[:], syscall.MSG_CMSG_CLOEXEC)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil && n == 0 {
		err = syscall.EPIPE
	}
	if err != nil {
		return 0, nil, nil, err
	}
	if on > 0 {
		msgs, _ := syscall.ParseSocketControlMessage(oob[:on])
		for i := range msgs {
			fds, _ := syscall.ParseUnixRights(&msgs[i])
			files = append(files, fds...)
		}
	}
	msg := buf[:n]
	if msg[0] == large && len(files) > 0 {
		fd := files[len(files)-1]
		files = files[:len(files)-1]
		msg, err = readAll(fd)
		syscall.Close(fd)
		if err != nil {
			CloseAll(files)
			return 0, nil, nil, err
		}
	}
	return msg[0], &Buf{B: msg[1:]}, files, nil
}

// MaxDatagram is how long the buffer given to Recv must be.
const MaxDatagram = maxDatagram

// CloseAll closes files that nobody wants.
func CloseAll(files []int) {
	for _, f := range files {
		syscall.Close(f)
	}
}

func memfd(data []byte) (int, error) {
	name := [...]byte{'m', 0}
	fd, _, e := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name)), 1 /* MFD_CLOEXEC */, 0)
	if e != 0 {
		return -1, e
	}
	for off := 0; off < len(data); {
		n, err := syscall.Pwrite(int(fd), data[off:], int64(off))
		if err != nil {
			syscall.Close(int(fd))
			return -1, err
		}
		off += n
	}
	return int(fd), nil
}

func readAll(fd int) ([]byte, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Size < 1 || st.Size > maxMessage {
		return nil, syscall.EMSGSIZE
	}
	data := make([]byte, st.Size)
	for off := 0; off < len(data); {
		n, err := syscall.Pread(fd, data[off:], int64(off))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, syscall.EMSGSIZE
		}
		off += n
	}
	return data, nil
}

// trouble is an error with what was being done, without the package errors.
type trouble struct {
	what  string
	errno syscall.Errno
}

func (t *trouble) Error() string { return t.what + ": " + t.errno.Error() }

// failure turns err into the answer Failed.
func failure(err error) []byte {
	b := &Buf{B: []byte{Failed}}
	t, ok := err.(*trouble)
	if !ok {
		e, _ := err.(syscall.Errno)
		t = &trouble{"", e}
	}
	b.Uint(uint64(t.errno))
	b.Str(t.what)
	return b.B
}

// wrap says what was being done when err came, and is nil when it did not.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(syscall.Errno); ok {
		return &trouble{what, e}
	}
	if t, ok := err.(*trouble); ok {
		return &trouble{what + ": " + t.what, t.errno}
	}
	return err
}
