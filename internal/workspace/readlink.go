package workspace

// Readlink returns the target of the symbolic link that name itself is, as
// it is written in the link. A rule that keeps the name from being read
// keeps its target, too.
func (w *Workspace) Readlink(name string) (string, error) {
	at, err := w.resolveLeaf(name)
	if err == nil {
		err = w.judgeRead(at, name)
	}
	if err != nil {
		return "", explain("reading the link", name, err)
	}
	target, err := at.zone.tree.readlink(at.path)
	return target, explain("reading the link", name, err)
}
