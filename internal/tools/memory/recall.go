package memory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/handrail-tools/handrail/internal/output"
	"github.com/handrail-tools/handrail/internal/store"
	"github.com/handrail-tools/handrail/tool"
)

//go:embed recall.md
var recallWords string

const (
	// recallRoom is how much text one answer may have, in bytes. It leaves
	// the default output budget room for what the journey may add, so that
	// an answer is never cut again.
	recallRoom = tool.DefaultOutput - 2000

	// recallLine is how much of one line is shown, in bytes. Claude Code's
	// reader cuts lines at 2,000 characters too.
	recallLine = 2000

	// recallHit is how much of a matching line is shown, in bytes, around
	// the match. octos caps its search results at 500.
	recallHit = 500

	// recallHits is how many matches are shown when no limit is given.
	recallHits = 100
)

type recallIn struct {
	ID         string `json:"id" jsonschema:"the id of the result, such as r_k3m9x2pq7abc" max:"64"`
	StartLine  int    `json:"start_line,omitempty" jsonschema:"first line to show or search, counted from 1" min:"1"`
	Limit      int    `json:"limit,omitempty" jsonschema:"how many lines to show; with pattern, how many matches" min:"1"`
	Tail       int    `json:"tail,omitempty" jsonschema:"show this many of the last lines" min:"1"`
	Pattern    string `json:"pattern,omitempty" jsonschema:"show only lines that match this regular expression" max:"1000"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"match without regard to case"`
	Context    int    `json:"context,omitempty" jsonschema:"how many lines to show before and after each match" min:"0" max:"20"`
	ByteOffset *int64 `json:"byte_offset,omitempty" jsonschema:"show raw bytes from this offset on, counted from 0" min:"0"`
	ByteLimit  int64  `json:"byte_limit,omitempty" jsonschema:"how many bytes to show" min:"1"`
}

func recall() tool.Tool {
	return tool.Typed[recallIn]{
		Spec: tool.Spec{
			Name:        "recall",
			Title:       "Recall a result",
			Description: strings.NewReplacer("{{line}}", strconv.Itoa(recallLine), "{{room}}", strconv.Itoa(recallRoom)).Replace(strings.TrimSpace(recallWords)),
			ArgAliases: map[string][]string{
				"id":         {"result_id", "tool_call_id"},
				"start_line": {"offset", "from_line", "line"},
				"limit":      {"count", "max_lines", "head_limit"},
				"pattern":    {"query", "regex"},
			},
			Tags:        []string{"memory"},
			Effects:     tool.Pure,
			Concurrency: tool.Safe,
			Idempotent:  true,
			// A recalled text is cleaned and redacted here, as the result it
			// comes from was: one that is verbatim must stay so.
			Verbatim: true,
		},
		Handle: runRecall,
	}.Tool()
}

func runRecall(ctx context.Context, _ *tool.Call, in recallIn) (*tool.Result, error) {
	re, err := in.check()
	if err != nil {
		return nil, err
	}
	record, err := store.ReaderFrom(ctx).Result(ctx, in.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, tool.Failf("there is no result %s that this session can read. An id stands at the end of a result that was cut; it cannot be made up, and the oldest results are removed.", in.ID)
	}
	if err != nil {
		return nil, err
	}
	content, err := record.Text()
	if err != nil {
		return nil, tool.Failf("the result %s can no longer be read: %w", in.ID, err)
	}
	defer func() { _ = content.Close() }()
	v := &view{ctx: ctx, record: record, content: content, redactor: output.RedactorFrom(ctx), block: recallBlock}
	v.head()
	switch {
	case record.Size == 0:
		v.foot("The result has no text.")
	case re != nil:
		err = v.grep(in, re)
	case in.ByteOffset != nil || in.ByteLimit != 0:
		err = v.bytes(in)
	case in.Tail != 0:
		err = v.tail(in.Tail)
	default:
		err = v.lines(in)
	}
	if err != nil {
		return nil, err
	}
	result := tool.Text(v.out.String())
	if in == (recallIn{ID: in.ID}) { // the result as a whole, so with what it showed
		if result.Media, err = attachments(record, in.ID); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// attachments reads the media of the result with the id.
func attachments(record *store.Record, id string) ([]tool.Media, error) {
	var all []tool.Media
	for i := range record.Media {
		m, err := record.ReadMedia(i)
		if err != nil {
			return nil, tool.Failf("an attachment of %s can no longer be read: %w", id, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// check reports everything that is wrong with the arguments, and returns the
// compiled pattern, if there is one.
func (in recallIn) check() (*regexp.Regexp, error) {
	var wrong []string
	if !store.IsID(in.ID) {
		wrong = append(wrong, fmt.Sprintf("id: %q is no id of a result; one looks like r_k3m9x2pq7abc and stands at the end of a result that was cut", tool.Clip(in.ID)))
	}
	if min(in.StartLine, in.Limit, in.Tail, in.Context, int(in.ByteLimit)) < 0 || in.ByteOffset != nil && *in.ByteOffset < 0 {
		wrong = append(wrong, "no number may be negative")
	}
	bytes := in.ByteOffset != nil || in.ByteLimit != 0
	if in.Tail != 0 && (in.StartLine != 0 || in.Limit != 0) {
		wrong = append(wrong, "tail: it already says which lines to show, so leave out start_line and limit")
	}
	if in.Tail != 0 && in.Pattern != "" {
		wrong = append(wrong, "tail: it does not go with pattern; use start_line to search from a line on")
	}
	if bytes && (in.StartLine != 0 || in.Limit != 0 || in.Tail != 0 || in.Pattern != "") {
		wrong = append(wrong, "byte_offset, byte_limit: they read raw bytes, so leave out start_line, limit, tail and pattern")
	}
	if in.Pattern == "" && (in.Context != 0 || in.IgnoreCase) {
		wrong = append(wrong, "context, ignore_case: they need a pattern")
	}
	re, err := in.compile()
	if err != nil {
		wrong = append(wrong, fmt.Sprintf("pattern: %s; the syntax is RE2, without look-around and back-references", tool.Clip(err.Error())))
	}
	if len(wrong) > 0 {
		return nil, tool.Invalidf("recall cannot do this:\n- %s", strings.Join(wrong, "\n- "))
	}
	return re, nil
}

func (in recallIn) compile() (*regexp.Regexp, error) {
	if in.Pattern == "" {
		return nil, nil
	}
	if in.IgnoreCase {
		return regexp.Compile("(?i:" + in.Pattern + ")")
	}
	return regexp.Compile(in.Pattern)
}
