package tool

import "time"

// Limits that more than one room must agree on. The source of each number
// stands beside it, so that a change can be argued with.
const (
	// MaxArgs is the largest argument text of one call, in bytes. octos
	// refuses at the same size; no known client sends more.
	MaxArgs = 1 << 20

	// MaxErrorText bounds every message that a malformed or refused call
	// earns, in bytes. Such texts echo names the caller chose, and an
	// unbounded echo once pushed the advice out of the result (octos #2193).
	MaxErrorText = 4096

	// MaxEcho bounds one echoed path or name inside a message, in bytes.
	MaxEcho = 200

	// MaxName is the longest tool name that the model providers take.
	MaxName = 64

	// DefaultTimeout is how long a call may run when neither the tool nor
	// the session says otherwise: what a person will wait for.
	DefaultTimeout = 120 * time.Second

	// MaxTimeout is the longest that any budget may be: the backstop that
	// octos keeps at its registry.
	MaxTimeout = 1800 * time.Second

	// DefaultOutput is how many bytes of text a result may carry to the
	// model when the tool declares no budget of its own.
	DefaultOutput = 50_000
)
