package file

import "github.com/handrail-tools/handrail/tool"

// All returns the tools of this package.
func All() []tool.Tool {
	return []tool.Tool{
		ReadFile(), WriteFile(), EditFile(), ApplyPatch(), DiffEdit(), ListDir(), Glob(), Grep(), ViewImage(), NotebookEdit(),
		MoveFile(), DeleteFile(), MakeDir(),
	}
}
