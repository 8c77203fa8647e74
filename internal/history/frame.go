package history

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
)

// A segment is a row of frames, each with this head:
//
//	0  kind
//	1  version of the format
//	2  check of the head, 2 bytes
//	4  length of the body in bytes, 4 bytes
//	8  CRC-32C of the body, 4 bytes
//
// all numbers little-endian. The head has a check of its own, so that a
// reader may pass over a body without reading it.
const (
	headSize      = 12
	formatVersion = 1

	// maxBody bounds a frame: the largest file that is kept, with room for
	// what stands around it.
	maxBody = MaxKept + 1<<20
)

type frameKind uint8

const (
	frameRoot   frameKind = 1 + iota // the first: whose history this is
	frameObject                      // a content
	frameBegin                       // a change is about to happen
	frameEnd                         // what became of it
)

type frame struct {
	kind frameKind
	at   int64 // where the body begins
	size int
	crc  uint32
}

// next is where the frame after this one begins.
func (f frame) next() int64 { return f.at + int64(f.size) }

var (
	errTorn  = errors.New("the end of the segment is torn")
	errCheck = errors.New("the checksum does not match")
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func crcOf(body []byte) uint32 { return crc32.Checksum(body, castagnoli()) }

// appendFrame appends a frame whose body is what the parts are in a row.
func appendFrame(b []byte, kind frameKind, parts ...[]byte) []byte {
	var size int
	crc := uint32(0)
	for _, p := range parts {
		size += len(p)
		crc = crc32.Update(crc, castagnoli(), p)
	}
	at := len(b)
	b = append(b, byte(kind), formatVersion, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint32(b, crc)
	binary.LittleEndian.PutUint16(b[at+2:], headCheck(b[at:at+headSize]))
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// headCheck folds the checksum of a head, without the check itself.
func headCheck(head []byte) uint16 {
	sum := crc32.Update(crcOf(head[:2]), castagnoli(), head[4:headSize])
	return uint16(sum) ^ uint16(sum>>16)
}

// parseHead reads the head of the frame that begins at an offset. left is
// how many bytes there are behind the head.
func parseHead(head []byte, offset, left int64) (frame, error) {
	if len(head) < headSize {
		return frame{}, errTorn
	}
	f := frame{
		kind: frameKind(head[0]), at: offset + headSize,
		size: int(binary.LittleEndian.Uint32(head[4:])), crc: binary.LittleEndian.Uint32(head[8:]),
	}
	switch {
	case head[1] != formatVersion || binary.LittleEndian.Uint16(head[2:]) != headCheck(head):
		return frame{}, errCheck
	case f.kind < frameRoot || f.kind > frameEnd || f.size > maxBody:
		return frame{}, errCheck
	case int64(f.size) > left:
		return frame{}, errTorn
	}
	return f, nil
}
