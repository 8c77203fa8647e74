package roundtrip

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var request = Request{Principal: "a", Method: "tools/call", Name: "write", Args: []byte(`{"path":"x"}`)}

func TestStateComesBackOnce(t *testing.T) {
	var s Sealer
	for _, data := range []string{"", "round=1", strings.Repeat("x", 1000)} {
		state := s.Seal(request, data)
		if got, err := s.Open(request, state); err != nil || got != data {
			t.Errorf("%.10q: got %.10q, %v", data, got, err)
		}
		if _, err := s.Open(request, state); !errors.Is(err, ErrUsed) {
			t.Errorf("a second time: %v", err)
		}
	}
}

func TestStateIsForItsRequestAlone(t *testing.T) {
	var s, other Sealer
	state := s.Seal(request, "data")
	for name, c := range map[string]struct {
		r    Request
		want error
	}{
		"principal": {Request{Principal: "b", Method: "tools/call", Name: "write", Args: request.Args}, ErrPrincipal},
		"method":    {Request{Principal: "a", Method: "prompts/get", Name: "write", Args: request.Args}, ErrRequest},
		"name":      {Request{Principal: "a", Method: "tools/call", Name: "remove", Args: request.Args}, ErrRequest},
		"arguments": {Request{Principal: "a", Method: "tools/call", Name: "write", Args: []byte(`{"path":"y"}`)}, ErrArgs},
		"shifted":   {Request{Principal: "a", Method: "tools/cal", Name: "lwrite", Args: request.Args}, ErrRequest},
	} {
		if _, err := s.Open(c.r, state); !errors.Is(err, c.want) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if _, err := other.Open(request, state); !errors.Is(err, ErrForged) {
		t.Errorf("another server: %v", err)
	}
	// A failed attempt does not use it up.
	if _, err := s.Open(request, state); err != nil {
		t.Error(err)
	}
}

func TestEveryByteCounts(t *testing.T) {
	var s Sealer
	state := s.Seal(request, "data")
	for i := range state {
		forged := []byte(state)
		forged[i] ^= 1
		if _, err := s.Open(request, string(forged)); !errors.Is(err, ErrForged) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for _, forged := range []string{"", "x", state[:len(state)-1], state + "A", state + "-TAMPERED", strings.Repeat("A", maxState+1)} {
		if _, err := s.Open(request, forged); !errors.Is(err, ErrForged) {
			t.Errorf("%.20q: %v", forged, err)
		}
	}
}

func TestStateExpiresAndIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Sealer{Life: time.Minute}
		late := s.Seal(request, "")
		for range maxUsed {
			if _, err := s.Open(request, s.Seal(request, "")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Open(request, s.Seal(request, "")); !errors.Is(err, ErrBusy) {
			t.Errorf("with no room left: %v", err)
		}
		time.Sleep(time.Minute)
		if _, err := s.Open(request, late); !errors.Is(err, ErrExpired) {
			t.Errorf("late: %v", err)
		}
		if _, err := s.Open(request, s.Seal(request, "")); err != nil || len(s.used) != 1 {
			t.Errorf("after all have expired: %v, %d remembered", err, len(s.used))
		}
	})
}

func FuzzOpen(f *testing.F) {
	var s Sealer
	f.Add(s.Seal(request, "data"))
	f.Add("")
	f.Add("AAAA-TAMPERED")
	known := s.Seal(request, "known")
	f.Fuzz(func(t *testing.T, state string) {
		if _, err := s.Open(request, state); err == nil && state != known {
			// The seeds that this process made are the only valid ones.
			if _, again := s.Open(request, state); !errors.Is(again, ErrUsed) {
				t.Errorf("%q can be used twice", state)
			}
		}
	})
}
