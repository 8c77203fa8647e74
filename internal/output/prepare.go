package output

import (
	"context"
	"strings"
)

// Prepared is the text of a result as a model may see it, before it is cut.
type Prepared struct {
	// Text has exactly the lines of the text that was given.
	Text string
	// Removed counts what was cleaned away or, in a verbatim text, made
	// visible.
	Removed Removed
	// Redacted counts what was replaced, by kind. nil means nothing.
	Redacted map[string]int
	// Note says what was removed and, of a verbatim text, that secrets were
	// replaced. It is "" where nothing was.
	Note string
}

// NoteReplaced is what a verbatim text says of registered secrets in it.
const NoteReplaced = "A known secret is replaced by a placeholder in this text: an edit that quotes the placeholder will not match."

// Prepare cleans and redacts text. A verbatim text is one that will be
// matched again, such as a file about to be edited: nothing in it is
// dropped, what could not be seen is shown escaped, and only the values that
// were registered with [Redactor.Know] are replaced. What merely has the form
// of a secret stays, because it may be an example that is to be edited.
//
// Cleaning comes first, because an invisible character inside a token would
// otherwise hide it from the redactor.
func Prepare(text string, verbatim bool, r *Redactor) Prepared {
	return PrepareWindow("", text, "", verbatim, r)
}

// PrepareWindow prepares text, which is a part of a longer one, and looks at
// what stands before and after it: a secret that only reaches into the
// window is replaced there too. [MaxSecret] bytes on either side are enough
// for every kind that is known by its form.
func PrepareWindow(before, text, after string, verbatim bool, r *Redactor) Prepared {
	if strings.HasSuffix(text, "\r") && strings.HasPrefix(after, "\n") { // a line's end that the window cuts in two
		p := PrepareWindow(before, text+"\n", after[1:], verbatim, r)
		p.Text = strings.TrimSuffix(p.Text, "\n")
		return p
	}
	if verbatim {
		return prepareVerbatim(before, text, after, r)
	}
	clean, removed := Clean(text)
	p := Prepared{Removed: removed, Note: removed.note("removed")}
	if before == "" && after == "" {
		p.Text, p.Redacted = r.Redact(clean)
		return p
	}
	before, _ = Clean(before)
	after, _ = Clean(after)
	p.Text, p.Redacted = r.redact(before+clean+after, len(before), len(before)+len(clean))
	return p
}

// prepareVerbatim replaces before it escapes: an escape inside a value would
// hide the value.
func prepareVerbatim(before, text, after string, r *Redactor) Prepared {
	shown, redacted := r.redactKnown(before, text, after)
	shown, removed := Escape(shown)
	p := Prepared{Text: shown, Removed: removed, Redacted: redacted, Note: removed.note("shown escaped")}
	if redacted != nil {
		p.Note = strings.TrimSpace(p.Note + " " + NoteReplaced)
	}
	return p
}

type redactorKey struct{}

// WithRedactor returns a context that carries the session's redactor to
// tools that show stored text themselves.
func WithRedactor(ctx context.Context, r *Redactor) context.Context {
	return context.WithValue(ctx, redactorKey{}, r)
}

// RedactorFrom returns the session's redactor. It panics where there is
// none: showing stored text without it would leak.
func RedactorFrom(ctx context.Context) *Redactor {
	r, ok := ctx.Value(redactorKey{}).(*Redactor)
	if !ok {
		panic("output: the context carries no redactor")
	}
	return r
}
