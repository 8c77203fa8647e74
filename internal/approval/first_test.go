package approval

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

func request(digest string) permission.Request {
	return permission.Request{ID: "q_" + digest, Digest: digest, Tool: "shell", Args: []byte(`{"command":"ls"}`), Editable: true, Asked: time.Now(),
		Act: permission.Act{Command: "ls"}, Offers: []permission.Offer{{Rules: []string{"shell(ls)"}}}}
}

func yes(_ context.Context, r permission.Request) (permission.Answer, error) {
	return permission.Answer{Allow: true, Digest: r.Digest, By: "yes"}, nil
}

func no(_ context.Context, r permission.Request) (permission.Answer, error) {
	return permission.Answer{Digest: r.Digest, By: "no"}, nil
}

func nobody(context.Context, permission.Request) (permission.Answer, error) {
	return permission.Answer{}, permission.ErrNobody
}

// after is a face that takes its time, and reports how it ended.
func after(d time.Duration, face permission.Approver, ended *error) permission.Approver {
	return func(ctx context.Context, r permission.Request) (permission.Answer, error) {
		select {
		case <-time.After(d):
			return face(ctx, r)
		case <-ctx.Done():
			*ended = context.Cause(ctx)
			return permission.Answer{}, ctx.Err()
		}
	}
}

func TestFirst(t *testing.T) {
	var ended error
	dies := func(context.Context, permission.Request) (permission.Answer, error) { panic("the face is gone") }
	exits := func(context.Context, permission.Request) (permission.Answer, error) {
		runtime.Goexit()
		return permission.Answer{}, nil
	}
	breaks := func(context.Context, permission.Request) (permission.Answer, error) {
		return permission.Answer{}, errors.New("the connection is lost")
	}
	replays := func(context.Context, permission.Request) (permission.Answer, error) {
		return permission.Answer{Allow: true, Digest: "of another question"}, nil
	}
	closes := func(context.Context, permission.Request) (permission.Answer, error) {
		return permission.Answer{}, tool.Errorf(tool.CodeApprovalRequired, "closed without an answer")
	}
	carries := func(context.Context, permission.Request) (permission.Answer, error) {
		return permission.Answer{}, &tool.Error{Code: tool.CodeApprovalRequired, Text: "asked with the result", Err: permission.ErrCarried}
	}
	for _, c := range []struct {
		name  string
		faces []permission.Approver
		by    string // who answers; "" for nobody
		err   error
		told  error
	}{
		{"the faster yes", []permission.Approver{after(time.Second, yes, &ended), after(time.Minute, no, &ended)}, "yes", nil, permission.ErrAnswered},
		{"the faster no", []permission.Approver{after(time.Minute, yes, &ended), after(time.Second, no, &ended)}, "no", nil, permission.ErrAnswered},
		{"one has nobody", []permission.Approver{nobody, after(time.Second, yes, &ended)}, "yes", nil, nil},
		{"one dies", []permission.Approver{dies, after(time.Second, yes, &ended)}, "yes", nil, nil},
		{"one ends its goroutine", []permission.Approver{exits, after(time.Second, no, &ended)}, "no", nil, nil},
		{"one breaks", []permission.Approver{breaks, after(time.Second, yes, &ended)}, "yes", nil, nil},
		{"one answers another question", []permission.Approver{replays, after(time.Second, no, &ended)}, "no", nil, nil},
		{"one is closed", []permission.Approver{closes, after(time.Second, yes, &ended)}, "yes", nil, nil},
		{"one hands it back", []permission.Approver{carries, after(time.Second, yes, &ended)}, "", permission.ErrCarried, permission.ErrAnswered},
		{"all have nobody", []permission.Approver{nobody, nobody}, "", permission.ErrNobody, nil},
		{"all are gone", []permission.Approver{dies, breaks, exits, replays}, "", errors.ErrUnsupported, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended = nil
				answer, err := First(c.faces...)(t.Context(), request("d"))
				synctest.Wait()
				switch {
				case c.by != "" && (err != nil || answer.By != c.by):
					t.Errorf("%+v, %v", answer, err)
				case c.by == "" && (err == nil || answer.Allow || c.err != errors.ErrUnsupported && !errors.Is(err, c.err)):
					t.Errorf("%+v, %v", answer, err)
				}
				if !errors.Is(ended, c.told) || c.told == nil && ended != nil {
					t.Errorf("the slower one heard %v, want %v", ended, c.told)
				}
			})
		})
	}
}

func TestFirstOfNone(t *testing.T) {
	if First() != nil || First(nil, nil) != nil {
		t.Error("an approver of none is one")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(permission.ErrExpired)
	var one, other error
	if _, err := First(after(time.Hour, yes, &one), after(time.Hour, yes, &other))(ctx, request("d")); !errors.Is(err, permission.ErrExpired) {
		t.Error(err)
	}
}

// TestFirstTwoAtOnce: two answers in the same moment are one answer.
func TestFirstTwoAtOnce(t *testing.T) {
	allowed := 0
	for range 200 {
		answer, err := First(yes, no)(t.Context(), request("d"))
		if err != nil || answer.By != "yes" && answer.By != "no" || answer.Allow != (answer.By == "yes") {
			t.Fatal(answer, err)
		}
		if answer.Allow {
			allowed++
		}
	}
	t.Logf("%d of 200 were a yes", allowed)
}
