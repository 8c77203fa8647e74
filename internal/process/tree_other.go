//go:build !linux

package process

import (
	"context"
	"syscall"

	"github.com/handrail-tools/handrail/internal/sandbox"
)

// A tree finds processes that left a command's session and its parent. Only
// Linux gives orphans to a process other than the first, so elsewhere there
// is nothing to find them by.
type tree struct{}

func watchTree(fence sandbox.Fence, s *sandbox.Spec) (*tree, error) { return nil, nil }

func (t *tree) follow(sandbox.Proc)   {}
func (t *tree) release()              {}
func (t *tree) left() bool            { return false }
func (t *tree) wait()                 {}
func (t *tree) signal(syscall.Signal) {}
func (t *tree) kill()                 {}

// Contained reports whether nothing that runs in a fence can leave it.
func Contained(f sandbox.Fence) bool { return f.Report().Driver == sandbox.Container }

// EndStrays does nothing here.
func EndStrays(context.Context) int { return 0 }

// AwaitsInput says nothing here: only Linux tells what a process waits for.
func (p *Process) AwaitsInput() bool { return false }
