package witness

import (
	"fmt"
	"os"
	"sync"
)

const (
	// maxFile is the largest file whose content is kept, in bytes. Sources
	// are smaller, and what is larger is mostly made by commands.
	maxFile = 8 << 20
	// maxShadow is how much content is kept in all, in bytes.
	maxShadow = 256 << 20
)

// A shadow is the contents of files, one behind the other. Its methods may be
// called from several goroutines at once.
type shadow struct {
	mu   sync.Mutex
	file *os.File
	end  int64
	live int64 // bytes that somebody still refers to
}

// A copied is where a content lies in a shadow.
type copied struct{ at, size int64 }

// openShadow makes a file that nobody else can open and that goes with this
// process.
func openShadow(dir string) (*shadow, error) {
	f, err := os.CreateTemp(dir, "shadow-")
	if err != nil {
		return nil, fmt.Errorf("making the file for contents: %w", err)
	}
	_ = os.Remove(f.Name()) // where that is not possible while it is open, close does it
	return &shadow{file: f}, nil
}

// put keeps a content, and reports false where there is no room.
func (s *shadow) put(data []byte) (copied, bool) {
	s.mu.Lock()
	at, size := s.end, int64(len(data))
	if s.end+size > maxShadow {
		s.mu.Unlock()
		return copied{}, false
	}
	s.end += size
	s.live += size
	s.mu.Unlock()
	if _, err := s.file.WriteAt(data, at); err != nil {
		return copied{}, false
	}
	return copied{at, size}, true
}

// get returns a content.
func (s *shadow) get(c copied) ([]byte, error) {
	data := make([]byte, c.size)
	_, err := s.file.ReadAt(data, c.at)
	return data, err
}

// drop says that nobody refers to a content any more.
func (s *shadow) drop(c copied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live -= c.size
}

// crowded says that so much is no longer referred to that it is worth while to
// begin anew.
func (s *shadow) crowded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end > maxShadow/2 && s.live < s.end/2
}

func (s *shadow) close() {
	name := s.file.Name()
	_ = s.file.Close()
	_ = os.Remove(name)
}
