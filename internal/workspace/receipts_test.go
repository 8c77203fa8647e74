package workspace

import (
	"fmt"
	"testing"
)

func TestReceipts(t *testing.T) {
	var r Receipts
	if _, ok := r.Spend("v"); ok {
		t.Error("a receipt that nobody earned")
	}
	r.Earn("v", "r1")
	if id, ok := r.Spend("v"); !ok || id != "r1" {
		t.Errorf("%q, %v", id, ok)
	}
	if _, ok := r.Spend("v"); ok {
		t.Error("a receipt is good once")
	}
	r.Earn("v", "r2")
	r.Forget()
	if _, ok := r.Spend("v"); ok {
		t.Error("what was forgotten is still there")
	}
	for i := range maxReceipts + 1 {
		r.Earn(fmt.Sprint(i), "r")
	}
	if _, ok := r.Spend("0"); ok || len(r.ids) > maxReceipts || len(r.order) > maxReceipts {
		t.Errorf("%d receipts are kept", len(r.ids))
	}
}
