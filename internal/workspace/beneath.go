package workspace

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/handrail-tools/handrail/tool"
)

// checkBeneath makes sure that the open root is what lies at its path
// beneath dir, reached through no link that leads out of it.
func (w *Workspace) checkBeneath(dir string) error {
	if dir == "" || len(w.zones) == 0 {
		return nil
	}
	outside := fmt.Errorf("it does not lie beneath %s", tool.Clip(dir))
	real, err := realDir(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(real, w.Root())
	if err != nil || !filepath.IsLocal(rel) {
		return outside
	}
	above, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	defer func() { _ = above.Close() }() // nothing was written to it
	there, err := above.Stat(rel)
	if err != nil {
		return outside
	}
	f, err := w.zones[0].tree.open(".")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	here, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(here, there) {
		return outside
	}
	return nil
}
