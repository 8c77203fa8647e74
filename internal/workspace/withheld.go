package workspace

import "context"

type closedKey struct{}

// WithClosed returns a context that tells a tool what rules for the call make
// it leave out of the folders that it walks through: paths as [Resolved.Judged]
// spells them.
func WithClosed(ctx context.Context, closed func(path string) bool) context.Context {
	return context.WithValue(ctx, closedKey{}, closed)
}

// ClosedFrom returns what a tool must leave out of its trees: the function
// reports it of paths as rules know them. It is never nil.
func ClosedFrom(ctx context.Context) func(path string) bool {
	if closed, _ := ctx.Value(closedKey{}).(func(path string) bool); closed != nil {
		return closed
	}
	return func(string) bool { return false }
}
