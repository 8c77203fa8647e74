package handrail

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

// cacheDir is where commands in this workspace keep the caches of build tools,
// or "" where this user has no place for such. No other workspace's commands
// write it, and nothing outside of a fence reads it. What is in it is bounded by
// those tools: Go's goes after five days without use.
func (s *Session) cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	name := sha256.Sum256([]byte(s.root()))
	return filepath.Join(dir, "handrail", "commands", hex.EncodeToString(name[:8]))
}

// makeCache makes the folder, unless it is to be hidden. Where it is not made,
// the fence leaves it out, and a build tool says so.
func (l *lazyFence) makeCache(p *sandbox.Policy) {
	hidden := slices.ContainsFunc(p.Unreadable, func(h string) bool {
		rel, err := filepath.Rel(h, l.cache)
		return err == nil && filepath.IsLocal(rel)
	})
	if hidden {
		p.Writable = slices.DeleteFunc(slices.Clone(p.Writable), func(w string) bool { return w == l.cache })
		return
	}
	if l.cache != "" {
		_ = os.MkdirAll(l.cache, 0o700) // told by who needs it
	}
}
