package tooltest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/jsondoc"
)

// world is what the suite sees of [Options.Dir]: a line for each path.
type world map[string]string

// look takes a picture of the directory; nil where there is none.
func (s *subject) look(tb testing.TB) world {
	tb.Helper()
	if s.opts.Dir == "" {
		return nil
	}
	w := world{}
	err := filepath.WalkDir(s.opts.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %d %x %s", len(b), sha256.Sum256(b), info.ModTime())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + target
		}
		w[path] = line
		return nil
	})
	if err != nil {
		tb.Fatalf("looking at the directory of the calls: %v", err)
	}
	return w
}

// same tries that nothing has changed since.
func (w world) same(tb testing.TB, what string, now world) {
	tb.Helper()
	paths := maps.Clone(w)
	maps.Copy(paths, now)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if w[path] != now[path] {
			tb.Errorf("%s changed %s from %q to %q", what, path, w[path], now[path])
		}
	}
}

// replace sets one argument in a JSON object.
func replace(object, name, value string) (string, error) {
	n, err := jsondoc.Parse(object)
	if err != nil {
		return "", err
	}
	if n.Index(name) < 0 {
		n.Elems = append(n.Elems, jsondoc.Elem{Key: name})
	}
	var members []string
	for _, e := range n.Elems {
		text := value // as it stands, since it need not be what a reader takes
		if e.Key != name {
			text = string(e.JSON())
		}
		key := jsondoc.NewString(e.Key)
		members = append(members, key.Raw+":"+text)
	}
	return "{" + strings.Join(members, ",") + "}", nil
}
