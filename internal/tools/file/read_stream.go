package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/telemetry"
	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// streamHead is how much of a large file tells its encoding, in bytes.
	streamHead = 64 << 10
	// streamBuffer is what a stream holds at once, in bytes: more than a
	// window, so that a line which does not fit it fits no answer either.
	streamBuffer = 256 << 10
)

// readStream shows a window of a file that is too large to be held. Its
// lines are not counted, because that would mean reading all of it. What is
// seen this way is not recorded: nobody overwrites such a file from memory.
func readStream(ctx context.Context, w *workspace.Workspace, in readArgs, want window) (sight, error) {
	f, err := w.OpenFile(in.Path)
	if err != nil {
		return sight{}, pathError(w, in.Path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return sight{}, tool.Failf("reading %s: %w", tool.Clip(in.Path), err)
	}
	head := make([]byte, streamHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return sight{}, tool.Failf("reading %s: %w", tool.Clip(in.Path), err)
	}
	head = head[:n]
	text, encoding, err := textfile.NewReader(head, f)
	if errors.Is(err, textfile.ErrBinary) {
		return readLargeForm(ctx, w, f, head, info.Size(), in, want)
	}
	if err := in.noForm(in.Path); err != nil {
		return sight{}, err
	}
	if err != nil {
		return sight{}, tool.Failf("reading %s: %w", tool.Clip(in.Path), err)
	}
	if in.Encoding != "" {
		return sight{}, tool.Invalidf("encoding is for files up to %s; this one has %s and was recognised as %s", sizeOf(maxWholeRead), sizeOf(info.Size()), encoding)
	}
	s := stream{in: bufio.NewReaderSize(text, streamBuffer), ctx: ctx, size: info.Size()}
	var shown shown
	if want.bytes {
		shown, err = s.bytes(f, encoding, want)
	} else {
		shown, err = s.lines(want)
	}
	if err != nil {
		var known *tool.Error
		if errors.As(err, &known) || ctx.Err() != nil {
			return sight{}, err
		}
		return sight{}, tool.Failf("reading %s: %w", tool.Clip(in.Path), err)
	}
	if s.window != nil {
		shown.hide(ctx, s.window[0], s.window[1], s.window[2])
	}
	rel, err := w.Rel(in.Path)
	if err != nil {
		return sight{}, err
	}
	telemetry.ReadProbeFrom(ctx).Read(telemetry.Read{Rel: rel, Unbounded: want.whole, Continued: want.first > 1 || want.offset > 0, Lines: -1, Bytes: info.Size(), Longest: -1})
	notes := shown.notes(in.Path, want)
	if encoding != textfile.UTF8 {
		notes = append(notes, "encoding "+encoding.String())
	}
	if shown.hidden > 0 {
		notes = append(notes, plural(shown.hidden, "invisible or control character")+` shown as \u{…}`)
	}
	return sight{rel: rel, text: shown.text + footer(notes)}, nil
}

// A stream reads the text of a large file once, from its beginning.
type stream struct {
	in   *bufio.Reader
	ctx  context.Context
	size int64
	// window is what stands before, in and after a part of a line that is
	// shown, to find secrets that it cuts in two.
	window *[3]string
}

// next returns the next line without its end, at most a buffer of it, the
// bytes it takes with what was left out, and whether there is one.
func (s *stream) next() (line []byte, length int, err error) {
	line, err = s.in.ReadSlice('\n')
	length = len(line)
	if !errors.Is(err, bufio.ErrBufferFull) {
		if errors.Is(err, io.EOF) && length > 0 {
			err = nil
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), length, err
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if err := s.ctx.Err(); err != nil {
			return nil, 0, err
		}
		var more []byte
		more, err = s.in.ReadSlice('\n')
		length += len(more)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, length, err
}

// lines lists the lines of a window.
func (s *stream) lines(want window) (shown, error) {
	out := shown{first: want.first, total: -1, size: s.size}
	last := want.first + maxReadLines - 1
	if want.last > 0 {
		last = min(last, want.last)
	}
	l := lister{room: want.room, width: digits(last)}
	for number := 1; number <= last; number++ {
		if number%1024 == 0 && s.ctx.Err() != nil {
			return shown{}, s.ctx.Err()
		}
		line, length, err := s.next()
		if errors.Is(err, io.EOF) {
			out.total = number - 1
			break
		}
		if err != nil {
			return shown{}, err
		}
		if number < want.first {
			out.to += length
			continue
		}
		if !l.add(number, string(line)) {
			if l.lines == 0 {
				used := l.addPart(number, string(line))
				s.window = &[3]string{"", string(line[:used]), string(line[used:min(len(line), used+output.MaxSecret)])}
				out.rest = length - used
				out.to += used
			}
			break
		}
		out.to += length
	}
	if l.lines == 0 {
		return shown{}, pastEnd(want.first, out.total)
	}
	out.text, out.lines, out.hidden = string(l.out), l.lines, l.hidden
	return out, nil
}

// bytes shows a part by its place. In UTF-8 the file is entered there; any
// other encoding is decoded from its beginning, because nothing else tells
// where a character starts.
func (s *stream) bytes(f *os.File, encoding textfile.Encoding, want window) (shown, error) {
	// Some text before and after, to find the ends of characters and of
	// secrets.
	const around = output.MaxSecret
	from := max(want.offset-around, 0)
	part := make([]byte, want.limit+2*around)
	var n int
	var err error
	if encoding == textfile.UTF8 {
		if want.offset >= s.size {
			return shown{}, pastBytes(want.offset, s.size)
		}
		n, err = f.ReadAt(part, from)
	} else {
		if err := s.skip(from); err != nil {
			return shown{}, err
		}
		n, err = io.ReadFull(s.in, part)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return shown{}, err
	}
	if int64(n) <= want.offset-from {
		return shown{}, tool.Invalidf("byte_offset %d is past the end of the text", want.offset)
	}
	cut := 0
	for cut < min(n, utf8.UTFMax) && !utf8.RuneStart(part[cut]) && from > 0 {
		cut++ // the rest of a character
	}
	whole := string(part[cut:n])
	from += int64(cut)
	out, err := showBytes(whole, window{offset: want.offset - from, limit: want.limit, room: want.room})
	if err != nil {
		return shown{}, err
	}
	s.window = &[3]string{whole[:out.from], whole[out.from:out.to], whole[out.to:]}
	out.from, out.to = out.from+int(from), out.to+int(from)
	out.size = s.size
	if encoding != textfile.UTF8 && n < len(part) {
		out.size = from + int64(n)
	}
	return out, nil
}

// skip passes over n bytes of the text.
func (s *stream) skip(n int64) error {
	for n > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		step := min(n, 8<<20)
		if _, err := s.in.Discard(int(step)); err != nil {
			if errors.Is(err, io.EOF) {
				return fmt.Errorf("byte_offset is past the end of the text: %w", err)
			}
			return err
		}
		n -= step
	}
	return nil
}
