package handrail

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/handrail-tools/handrail/internal/history"
)

// HistoryOptions bound what is kept of the files that were changed. The zero
// value keeps it: a workspace has a history unless it is told not to.
type HistoryOptions struct {
	// Off keeps nothing: no change can be shown or undone, and the tools for
	// that are left out.
	Off bool
	// MaxBytes is how much the history of one workspace may take on the
	// disk; those of all workspaces in a state folder together may take four
	// times as much. The oldest goes first. 0 means 512 MiB.
	MaxBytes int64
	// MaxAge is how long a change is kept. 0 means 30 days.
	MaxAge time.Duration
}

// The types of the history. Each is documented where it is declared.
type (
	// HistoryFilter asks for changes of files, History is the answer, and
	// FileChanges is one of them: all that one call did.
	HistoryFilter = history.Filter
	History       = history.List
	FileChanges   = history.Change
	// UndoOptions say what is taken back, UndoResult what that did.
	UndoOptions = history.UndoOptions
	UndoResult  = history.UndoResult
	// ChangeStatus says what became of a change.
	ChangeStatus = history.Status
)

// What became of a change.
const (
	ChangeDone        = history.Done
	ChangeRunning     = history.Running
	ChangeInterrupted = history.Interrupted
)

// The failures of [Session.Undo] that a caller tells apart with [errors.Is].
var (
	// ErrNoHistory: the session keeps none.
	ErrNoHistory = errors.New("the session has no history")
	// ErrUndoConflict: files were changed since, so nothing was undone.
	ErrUndoConflict = history.ErrConflict
	// ErrNoChange: there is no such change, or nothing to undo.
	ErrNoChange = history.ErrNotFound
)

// History returns the newest changes of the workspace that the filter asks
// for, by whichever session they were made.
func (s *Session) History(ctx context.Context, f HistoryFilter) (*History, error) {
	if s.timeline == nil {
		return nil, ErrNoHistory
	}
	return s.timeline.List(ctx, f)
}

// Rel spells a path, given as a person types it, as the history and the
// results of tools do: relative to the workspace, or absolute in a granted
// folder. It fails where the path leads out of them.
func (s *Session) Rel(name string) (string, error) {
	if s.files == nil {
		return "", errors.New("the session has no files")
	}
	at, err := s.files.ResolveEntry(name)
	return at.Rel, err
}

// Undo takes changes back on behalf of the embedder: the rules of the
// workspace hold, but no permission is asked for and no event is made. A
// model's undo is a call of the tool undo. Calls that run meanwhile may
// change the same files; then it fails, and nothing is changed.
func (s *Session) Undo(ctx context.Context, o UndoOptions) (*UndoResult, error) {
	if s.timeline == nil {
		return nil, ErrNoHistory
	}
	return s.timeline.Undo(ctx, s.files, o)
}

// openHistory opens the history of a session that has no parent. It reads
// nothing before something is changed or asked for.
func (s *Session) openHistory() error {
	if s.options.Workspace == "" || s.options.History.Off || s.options.StateDir == "" {
		return nil
	}
	dir, err := filepath.Abs(filepath.Join(s.options.StateDir, "history"))
	if err != nil {
		return fmt.Errorf("finding the folder of the history: %w", err)
	}
	o := s.options.History
	s.past, err = history.Open(dir, history.Options{MaxBytes: o.MaxBytes, MaxAge: o.MaxAge, Logger: s.options.Logger})
	if err == nil {
		s.onClose(s.past.Close)
	}
	return err
}

// openTimeline lets the files of a session be recorded. A child records into
// the history of the workspace that the whole tree works in.
func (s *Session) openTimeline() error {
	if s.past == nil {
		return nil
	}
	root, err := realPath(s.options.Workspace)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	place := history.Place{Top: root, Root: root, Tree: s.tree()}
	if top := s.options.Files.Top; top != "" {
		if place.Top, err = realPath(top); err != nil {
			return fmt.Errorf("finding the top of the workspace: %w", err)
		}
	}
	if s.timeline, err = s.past.For(place); err != nil {
		return err
	}
	s.options.Files.Recorder = s.timeline
	return nil
}

// tree is the id of the session that was opened first.
func (s *Session) tree() string {
	for s.parent != nil {
		s = s.parent
	}
	return s.id
}
