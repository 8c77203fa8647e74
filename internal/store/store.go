// Package store is a placeholder until its branch arrives.
package store

import (
	"context"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

type Options struct{}
type Store struct{}
type Entry struct {
	Session, Workspace, Tool, CallID, Text string
	Media                                  []tool.Media
	Verbatim                               bool
}
type Event struct {
	Time                                     time.Time
	Session, Workspace, CallID, Tool, Asked  string
	Origin                                   tool.Origin
	OK                                       bool
	Code                                     tool.Code
	Step, Rule, Reason, ArgsDigest, ResultID string
	Changed                                  []string
	Omitted                                  int
	Repairs                                  []string
	Duration                                 time.Duration
}
type Scope struct{ Session, Workspace string }
type Reader struct{}

func Open(dir string, o Options) (*Store, error)                                { return &Store{}, nil }
func (s *Store) Close() error                                                   { return nil }
func (s *Store) Put(ctx context.Context, e Entry, durable bool) (string, error) { return "", nil }
func (s *Store) Append(e Event) error                                           { return nil }
func (s *Store) Reader(sc Scope) *Reader                                        { return &Reader{} }
func WithReader(ctx context.Context, r *Reader) context.Context                 { return ctx }
