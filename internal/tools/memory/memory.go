// Package memory holds the tools with which an agent gets back what it has
// seen before.
package memory

import "github.com/handrail-tools/handrail/tool"

// All returns the tools of this package.
func All() []tool.Tool { return []tool.Tool{recall()} }
