package tool

import (
	"encoding/json"
	"errors"
	"time"
)

// Result is what a call answers. The zero value is a failure that says
// nothing.
type Result struct {
	// OK says whether the call did what it was asked.
	OK bool
	// Code says why it did not. It is "" exactly when OK.
	Code Code
	// Text is for the model.
	Text string
	// Media are images and other content for the model, after the text.
	Media []Media
	// Structured is a JSON value that conforms to [Spec.Output], or nil.
	Structured json.RawMessage

	// Changed are the files that the call changed, as workspace paths.
	Changed []string
	// Deliver are files to hand to the person.
	Deliver []string
	// Usage is what the call spent on models.
	Usage Usage
	// Metadata is for the host only; the model never sees it.
	Metadata map[string]any

	// The journey fills in the rest; a tool leaves it zero.

	// ID is the id under which the whole result can be recalled, or "".
	ID string
	// Omitted is how many bytes of the text are not shown.
	Omitted int
	// Repairs says what was mended in the arguments, one line each.
	Repairs []string
	// Duration is how long the call took, from its start to its result.
	Duration time.Duration
}

// Media is content that is not text.
type Media struct {
	// MIME is the media type, for example "image/png".
	MIME string
	// Data is the content itself, not encoded.
	Data []byte
}

// Usage counts what a call spent on model tokens.
type Usage struct {
	InputTokens  int `json:"input_tokens,omitempty"`
	OutputTokens int `json:"output_tokens,omitempty"`
}

// Text returns a successful result with that text.
func Text(text string) *Result { return &Result{OK: true, Text: text} }

// FromError turns err into the result that reports it. A nil error gives
// nil.
func FromError(err error) *Result {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return &Result{Code: e.Code, Text: e.Text, Metadata: e.Metadata}
	}
	return &Result{Code: CodeFailed, Text: ClipText(err.Error(), MaxErrorText)}
}
