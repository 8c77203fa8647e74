package sandbox

import (
	"context"
)

func openStrongest(ctx context.Context, p Policy) (Fence, error) {
	return openNamespaces(ctx, p)
}
func openNamespaces(context.Context, Policy) (Fence, error) {
	return nil, &UnavailableError{Driver: Namespaces, Reason: "not built"}
}
func openLandlock(context.Context, Policy) (Fence, error) {
	return nil, &UnavailableError{Driver: Landlock, Reason: "not built"}
}
func openBubblewrap(context.Context, Policy) (Fence, error) {
	return nil, &UnavailableError{Driver: Bubblewrap, Reason: "not built"}
}
func openSeatbelt(context.Context, Policy) (Fence, error) {
	return nil, &UnavailableError{Driver: Seatbelt, Reason: "not built"}
}
func openContainer(context.Context, Policy, string) (Fence, error) {
	return nil, &UnavailableError{Driver: Container, Reason: "not built"}
}
