package handrail

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestNoCommandWhereHidingFails: what could not be looked for is not taken for
// what is not there, and is looked for again the next time.
func TestNoCommandWhereHidingFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.key"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Workspace: dir, Files: WorkspaceOptions{Unreadable: []string{"*.key"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := s.fences.held.open(over); f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := s.fences.held.open(t.Context()); f == nil || err != nil {
		t.Errorf("the next time: %v", err)
	}
}
