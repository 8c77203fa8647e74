package registry

import (
	"fmt"

	"github.com/handrail-tools/handrail/internal/policy"
	"github.com/handrail-tools/handrail/tool"
)

// DeniedError says that a policy denies a tool. It is the cause of the error
// that [View.Resolve] returns then, so that a caller can count it.
type DeniedError struct {
	// Spec is the declaration of the tool that is denied.
	Spec *tool.Spec
	// Decision names the list and the entry that decided.
	Decision policy.Decision
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the tool %q is %s", e.Spec.Name, e.Decision)
}
