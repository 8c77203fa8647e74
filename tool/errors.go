package tool

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Code names why a call did not succeed. The same failure has the same code
// on every face.
type Code string

// The codes of a result that is not OK.
const (
	// CodeUnknownTool: no visible tool has that name.
	CodeUnknownTool Code = "unknown_tool"
	// CodeTooLarge: the arguments exceed [MaxArgs].
	CodeTooLarge Code = "too_large"
	// CodeInvalidInput: the arguments are malformed. Nothing ran, and
	// sibling calls are not cancelled.
	CodeInvalidInput Code = "invalid_input"
	// CodeDenied: a policy, rule, mode, guard or hook refused the call.
	CodeDenied Code = "denied"
	// CodeApprovalRequired: a person would have to be asked and none can be.
	CodeApprovalRequired Code = "approval_required"
	// CodeApprovalDenied: a person was asked and said no.
	CodeApprovalDenied Code = "approval_denied"
	// CodeCancelled: the call was withdrawn, or an earlier call of its batch
	// failed.
	CodeCancelled Code = "cancelled"
	// CodeTimeout: the call ran out of its time budget.
	CodeTimeout Code = "timeout"
	// CodeFailed: the tool ran and reports failure.
	CodeFailed Code = "failed"
	// CodePanicked: the tool crashed; the session goes on.
	CodePanicked Code = "panicked"
	// CodeSandboxDenied: the fence stopped what the call tried to do.
	CodeSandboxDenied Code = "sandbox_denied"
)

// Codes lists every code, in the order of the constants.
func Codes() []Code {
	return []Code{
		CodeUnknownTool, CodeTooLarge, CodeInvalidInput, CodeDenied, CodeApprovalRequired, CodeApprovalDenied,
		CodeCancelled, CodeTimeout, CodeFailed, CodePanicked, CodeSandboxDenied,
	}
}

// Error is a failure with a code. Its text is shown to the model unchanged,
// so it says what was wrong and what would be right.
type Error struct {
	Code Code
	// Text is at most [MaxErrorText] bytes once it was made by [Errorf].
	Text string
	// Metadata is for the host only.
	Metadata map[string]any
	// Err is the cause, for [errors.Is]; it is not shown to the model.
	Err error
}

func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [*Error]. A %w operand becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: ClipText(err.Error(), MaxErrorText), Err: errors.Unwrap(err)}
}

// Failf makes an [*Error] with [CodeFailed].
func Failf(format string, args ...any) *Error { return Errorf(CodeFailed, format, args...) }

// Invalidf makes an [*Error] with [CodeInvalidInput], for what a schema
// cannot say. It must be returned before the call has had any effect.
func Invalidf(format string, args ...any) *Error { return Errorf(CodeInvalidInput, format, args...) }

// Clip shortens a name or path to [MaxEcho] bytes for use inside a message.
func Clip(s string) string { return ClipText(s, MaxEcho) }

// ClipText shortens s to at most limit bytes on a rune boundary and marks
// the cut with "…".
func ClipText(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	if limit < len(mark) {
		return ""
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.ToValidUTF8(s[:end], "?") + mark
}
