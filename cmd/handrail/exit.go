package main

import "github.com/handrail-tools/handrail/tool"

// The exit codes. Scripts branch on them, so they never change their meaning.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitDenied  = 3
	exitStopped = 4
	exitAsked   = 5
)

const exitHelp = `Exit codes:
  0  the call succeeded
  1  the tool failed
  2  the input or the command line is wrong
  3  denied, or not approved
  4  timeout or cancelled
  5  (explain only) a person would be asked`

// exitError ends the program with a code. A nil err says that everything has
// been said already.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// usage is an error in what the person typed.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return exitError{exitUsage, err}
}

// failure is an error of the machine.
func failure(err error) error {
	if err == nil {
		return nil
	}
	return exitError{exitFailed, err}
}

// exitWith ends with code where it is not 0, and says nothing more.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return exitError{code: code}
}

// exitCode returns the code for a result's code.
func exitCode(code tool.Code) int {
	switch code {
	case "":
		return exitOK
	case tool.CodeUnknownTool, tool.CodeTooLarge, tool.CodeInvalidInput:
		return exitUsage
	case tool.CodeDenied, tool.CodeApprovalRequired, tool.CodeApprovalDenied, tool.CodeSandboxDenied:
		return exitDenied
	case tool.CodeCancelled, tool.CodeTimeout:
		return exitStopped
	default:
		return exitFailed
	}
}
