package approval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/internal/statedir"
	"github.com/handrail-tools/handrail/tool"
)

// ErrGone is what an answer finds whose question was answered before, was
// withdrawn, has expired, or whose asker is gone. Nothing runs then.
var ErrGone = errors.New("no such question stands: it was answered or withdrawn, or whoever asked is gone")

// ErrTaken is what a second answer finds.
var ErrTaken = errors.New("this question has an answer already")

// Standing returns the questions that can be answered, the oldest first, and
// takes away those that cannot: whose asker is gone, which have expired, or
// which are no longer what was asked. spoilt are the reasons for the last of
// these.
func (q *Queue) Standing() (questions []Question, spoilt []error, err error) {
	err = q.locked(func() error {
		ids, err := q.names(askEnd)
		if err != nil {
			return err
		}
		owners := map[string]bool{}
		for _, id := range ids[:min(len(ids), maxStanding)] {
			question, err := q.standing(id, owners)
			switch {
			case err == nil:
				questions = append(questions, question)
				continue
			case errors.Is(err, ErrTaken), errors.Is(err, fs.ErrNotExist):
				continue
			case !errors.Is(err, ErrGone):
				spoilt = append(spoilt, fmt.Errorf("the question %s is thrown away: %w", tool.Clip(id), err))
			}
			_ = q.removeIfThere(id + askEnd)
			_ = q.removeIfThere(id + replyEnd)
		}
		q.sweep(owners)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the queue of questions: %w", err)
	}
	slices.SortFunc(questions, func(a, b Question) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) })
	return questions, spoilt, nil
}

// standing reads a question that has no answer yet. The queue is locked.
func (q *Queue) standing(id string, owners map[string]bool) (Question, error) {
	if !isName(id) {
		return Question{}, fs.ErrNotExist
	}
	text, err := q.read(id+askEnd, maxQuestion)
	if err != nil {
		return Question{}, err
	}
	question, err := readQuestion(id, text)
	switch {
	case err != nil:
		return Question{}, err
	case !question.Expires.IsZero() && !time.Now().Before(question.Expires), !q.waits(question.Owner, owners):
		return Question{}, ErrGone
	case q.exists(id + replyEnd):
		return Question{}, ErrTaken
	}
	return question, nil
}

// waits reports whether an asker still lives, by the lock that it holds.
func (q *Queue) waits(owner string, known map[string]bool) bool {
	if waits, ok := known[owner]; ok {
		return waits
	}
	waits := false
	if isName(owner) {
		if f, err := q.dir.OpenFile(owner+ownerEnd, os.O_RDWR); err == nil {
			free, err := statedir.Lock(f, false, false)
			waits = err == nil && !free
			_ = f.Close()
		}
	}
	known[owner] = waits
	return waits
}

// isName reports whether a text can name a question or an owner: it is part
// of the name of a file.
func isName(s string) bool {
	return len(s) == 16 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// sweep removes what askers have left that are gone. The queue is locked.
func (q *Queue) sweep(known map[string]bool) {
	owners, _ := q.names(ownerEnd) // what cannot be listed stays
	for _, owner := range owners {
		if !q.waits(owner, known) {
			_ = q.removeIfThere(owner + ownerEnd)
		}
	}
	// Whoever writes has the queue locked, so that these were left over.
	parts, _ := q.names(tempEnd)
	for _, name := range parts {
		_ = q.removeIfThere(name + tempEnd)
	}
	replies, _ := q.names(replyEnd)
	for _, id := range replies {
		if !q.exists(id + askEnd) {
			_ = q.removeIfThere(id + replyEnd)
		}
	}
}

// Reply answers the question that the reply names. The first answer counts;
// a later one gets [ErrTaken] or [ErrGone]. The reply is for the question as
// the caller has it: where that is not what was asked, nothing is answered.
func (q *Queue) Reply(question Question, p Reply) error {
	p.ID, p.Digest = question.ID, question.Digest
	if err := p.check(question); err != nil {
		return fmt.Errorf("this answer does not count: %w", err)
	}
	text, err := json.MarshalIndent(p, "", "  ")
	switch {
	case err != nil:
		return err
	case len(text) > maxReply:
		return fmt.Errorf("the answer is longer than %d bytes", maxReply)
	}
	err = q.locked(func() error {
		_, err := q.standing(question.ID, map[string]bool{})
		if errors.Is(err, fs.ErrNotExist) {
			return ErrGone
		}
		if err != nil {
			return err
		}
		return replace(q.dir, question.ID+replyEnd, text, false)
	})
	if err != nil && !errors.Is(err, ErrGone) && !errors.Is(err, ErrTaken) {
		return fmt.Errorf("answering a question: %w", err)
	}
	return err
}
