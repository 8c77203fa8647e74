package workspace

import (
	"context"
	"sync"
)

// maxReceipts bounds what is remembered of earlier results; beyond it the
// oldest goes, which costs no more than showing a file again.
const maxReceipts = 1024

// ViewKey is the key in a result's metadata of the view of a file that it
// shows, where the session keeps receipts.
const ViewKey = "view"

// Receipts remember which view of a file the model was given whole, and in
// which result, so that the same view need not be given again while the model
// still has it before it. They hold digests and result ids, no content. Their
// methods may be called from several goroutines at once.
type Receipts struct {
	mu    sync.Mutex
	ids   map[string]string
	order []string // oldest first
}

// Earn notes that a result showed a view whole. view identifies the file, its
// exact content and the part of it.
func (r *Receipts) Earn(view, result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil {
		r.ids = map[string]string{}
	}
	if _, known := r.ids[view]; !known {
		r.order = append(r.order, view)
	}
	r.ids[view] = result
	if len(r.order) > maxReceipts {
		delete(r.ids, r.order[0])
		r.order = r.order[1:]
	}
}

// Spend returns the result that showed a view, and forgets it: whoever asks
// once more after being told wants to see it.
func (r *Receipts) Spend(view string) (result string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if result, ok = r.ids[view]; ok {
		r.ids[view] = ""
	}
	return result, result != ""
}

// Forget drops all of them, because the model may no longer have what it was
// shown.
func (r *Receipts) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids, r.order = nil, nil
}

type receiptsKey struct{}

// WithReceipts returns a context that carries receipts. nil carries none.
func WithReceipts(ctx context.Context, r *Receipts) context.Context {
	return context.WithValue(ctx, receiptsKey{}, r)
}

// ReceiptsFrom returns the session's receipts, or nil where it keeps none.
func ReceiptsFrom(ctx context.Context) *Receipts {
	r, _ := ctx.Value(receiptsKey{}).(*Receipts)
	return r
}
