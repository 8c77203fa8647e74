package exec

import (
	"context"
	"io"

	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
	"github.com/handrail-tools/handrail/internal/witness"
	"github.com/handrail-tools/handrail/tool"
)

// Writes says what becomes of a shell command that looks as if it wrote
// files, where there are tools for that.
type Writes string

// The words are those of the policy. The zero value counts as WritesAllow.
const (
	WritesAllow Writes = "allow"
	WritesWarn  Writes = "warn"
	WritesDeny  Writes = "deny"
)

// A Kit is what the tools of this package have of one session.
type Kit struct {
	// Fence returns where commands run. It is opened when it is first asked
	// for; one that cannot be had says so each time.
	Fence func(context.Context) (sandbox.Fence, error)
	// Free returns where a command runs that a person let out of the fence.
	// nil means that none can be.
	Free func(context.Context) (sandbox.Fence, error)
	// Policy is what the fence holds, for those who judge a call beforehand.
	Policy sandbox.Policy
	// Commands are those that run on after their call.
	Commands *process.Table
	// Environment is what commands get to know of that of this process.
	Environment process.Environment
	// Cache is the folder for the caches of build tools, which the fence lets
	// commands write. "" means that of temporary files.
	Cache string
	// Writes says what becomes of commands that look as if they wrote files.
	Writes Writes
	// Spool is the folder for long outputs while their command runs.
	Spool string
	// Keep puts the whole of a long output into the ledger. nil keeps none.
	Keep func(ctx context.Context, call *tool.Call, whole io.ReadSeeker) (id string, err error)
	// Witness tells what a command changed. nil tells nothing.
	Witness *witness.Witness
	// Check is the project's own checker, as a shell command. "" means that
	// it is found by what lies in the folder.
	Check string
	// Formatters are run on a file after an edit, by the ending of its name
	// with the dot. nil runs none.
	Formatters map[string][]string
}

type kitKey struct{}

// With returns a context that carries a kit to the tools.
func With(ctx context.Context, k *Kit) context.Context { return context.WithValue(ctx, kitKey{}, k) }

// From returns the kit of a call. It panics where there is none: these tools
// are only given to sessions that have one.
func From(ctx context.Context) *Kit {
	k, ok := ctx.Value(kitKey{}).(*Kit)
	if !ok {
		panic("exec: the context of this call carries no kit")
	}
	return k
}

// All returns the tools of this package. They need a session with a
// workspace and a [Kit].
func All() []tool.Tool {
	return []tool.Tool{Shell(), ExecCommand(), WriteStdin(), Check(), RunCode(), Sleep()}
}

// tags are those of the tools that run what a model wrote.
func tags() []string { return []string{"runtime", "code"} }

// fence returns where a command runs.
func (k *Kit) fence(ctx context.Context, outside bool) (sandbox.Fence, error) {
	if !outside {
		return k.Fence(ctx)
	}
	if k.Free == nil {
		return nil, errNoneOutside()
	}
	return k.Free(ctx)
}

func errNoneOutside() error {
	return tool.Errorf(tool.CodeDenied, "in this session no command runs outside of the fence. Find another way, or tell the person.")
}

// writes reports whether commands can change files of the workspace.
func (k *Kit) writes() bool { return k.Policy.Mode != sandbox.ReadOnly && k.Policy.Mode != "" }

// act is what a command would do, as far as the fence lets it.
func (k *Kit) act(summary string, outside bool) tool.Act {
	a := tool.Act{Effects: tool.Read | tool.Exec, Summary: summary, Unfenced: outside}
	if k.writes() || outside {
		a.Effects |= tool.Write
	}
	if k.Policy.Network == sandbox.NetOn || k.Policy.Network == sandbox.NetProxy || outside {
		a.Effects |= tool.Network
	}
	return a
}
