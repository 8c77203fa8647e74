// Package approval is how a question reaches a person and the word comes
// back: several faces at once, a queue that other processes answer, and the
// book of what was allowed for always. It decides nothing: a word counts where
// the journey of the call finds that it answers the question that stands.
package approval

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/handrail-tools/handrail/internal/permission"
	"github.com/handrail-tools/handrail/tool"
)

// First returns an approver that asks through every face at once. The first
// answer that is to the question wins; the others hear it by the end of their
// context, with the cause [permission.ErrAnswered], and what they say later
// counts for nothing. A face that fails, crashes or answers another question
// does not refuse for the others; only when none is left is there no answer.
// A face that hands the question back with the result
// ([permission.ErrCarried]) ends the asking. nil faces are left out; with none
// left, First returns nil.
func First(faces ...permission.Approver) permission.Approver {
	var live []permission.Approver
	for _, f := range faces {
		if f != nil {
			live = append(live, f)
		}
	}
	switch len(live) {
	case 0:
		return nil
	case 1:
		return live[0]
	}
	return func(ctx context.Context, r permission.Request) (permission.Answer, error) { return first(ctx, r, live) }
}

// said is what came back from one face.
type said struct {
	answer permission.Answer
	err    error
}

func first(ctx context.Context, r permission.Request, faces []permission.Approver) (permission.Answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(permission.ErrAnswered)
	back := make(chan said, len(faces)) // room for all, so that a late one ends
	for _, face := range faces {
		go ask(ctx, r, face, back)
	}
	var errs []error
	for range faces {
		select {
		case s := <-back:
			switch {
			case s.err == nil:
				return s.answer, nil
			case errors.Is(s.err, permission.ErrCarried):
				return permission.Answer{}, s.err
			}
			errs = append(errs, s.err)
		case <-ctx.Done():
			return permission.Answer{}, context.Cause(ctx)
		}
	}
	return permission.Answer{}, worst(errs)
}

// ask puts the question through one face and hands over what comes back, also
// when the face crashes or ends the goroutine. An answer to another question is
// none.
func ask(ctx context.Context, r permission.Request, face permission.Approver, back chan<- said) {
	s := said{err: errors.New("asking a person: the face ended without an answer")}
	defer func() {
		if p := recover(); p != nil {
			s.err = fmt.Errorf("asking a person: the face crashed: %v\n%s", p, debug.Stack())
		}
		back <- s
	}()
	answer, err := face(ctx, r)
	if err == nil && answer.Digest != r.Digest {
		err = errors.New("asking a person: the answer is to another question")
	}
	s = said{answer, err}
}

// worst is what all faces together say that have no answer: words for the
// model first, then what went wrong, then that there is nobody.
func worst(errs []error) error {
	var failed []error
	for _, err := range errs {
		if e, ok := errors.AsType[*tool.Error](err); ok {
			return e
		}
		if !errors.Is(err, permission.ErrNobody) {
			failed = append(failed, err)
		}
	}
	if failed == nil {
		return permission.ErrNobody
	}
	return errors.Join(failed...)
}
