package handrail

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/tool"
)

// hookScripts are the files and folders of the workspace that decide what
// commands of hooks do, as absolute paths: the scripts that they run, the links
// that lead there, and, where a script lies in a folder that is named hooks,
// that folder, from which it may load others.
func (s *Session) hookScripts() []string {
	top, err := realPath(cmp.Or(s.options.Files.Top, s.options.Workspace))
	if err != nil {
		return nil // which opening the workspace reports
	}
	var found []string
	for _, script := range s.scriptsOf(top) {
		if rel, err := filepath.Rel(top, script); err == nil && filepath.IsLocal(rel) && rel != "." {
			found = append(found, guardsOf(top, script)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// scriptsOf are the scripts that commands of hooks name, as absolute paths,
// wherever they lie.
func (s *Session) scriptsOf(top string) (found []string) {
	for i := range s.options.Hooks {
		h := &s.options.Hooks[i]
		text := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", top, "$CLAUDE_PROJECT_DIR", top, "${HANDRAIL_PROJECT_DIR}", top, "$HANDRAIL_PROJECT_DIR", top, `"`, "", "'", "").
			Replace(strings.Join(append([]string{h.Command}, h.Args...), " "))
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()=", r) }) {
			if !filepath.IsAbs(word) {
				word = filepath.Join(top, word)
			}
			if isScript(word) {
				found = append(found, filepath.Clean(word))
			}
		}
	}
	return found
}

// loose reports a script of a hook that lies in a folder which is granted for
// writing: there nothing keeps tools and commands from it.
func (s *Session) loose(top string) error {
	if s.options.Permission.Mode != WorkspaceWrite {
		return nil // then none writes there unasked, or all do
	}
	for _, script := range s.scriptsOf(top) {
		real, err := realPath(script)
		if err != nil {
			real = script // which somebody could make
		}
		if rel, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(rel) {
			continue
		}
		for _, dir := range s.options.Files.Granted {
			if dir, err = realPath(dir); err != nil {
				continue // which opening the workspace reports
			}
			if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
				return fmt.Errorf("hooks: %s lies in the granted folder %s, where tools may write it; put it into the workspace, or into a folder that is not granted",
					tool.Clip(script), tool.Clip(dir))
			}
		}
	}
	return nil
}

// maxLinks is how many links are followed to a script; the kernel follows as
// many.
const maxLinks = 40

// guardsOf are the places beneath top by which a script can be replaced.
func guardsOf(top, script string) []string {
	found := []string{script}
	for range maxLinks {
		link, target := firstLink(top, script)
		if link == "" {
			break
		}
		if script = target; link != found[len(found)-1] {
			found = append(found, link)
		}
		if rel, err := filepath.Rel(top, script); err == nil && filepath.IsLocal(rel) {
			found = append(found, script)
		}
	}
	for _, path := range slices.Clone(found) {
		for dir := filepath.Dir(path); len(dir) > len(top); dir = filepath.Dir(dir) {
			if filepath.Base(dir) == "hooks" && !slices.Contains(found, dir) {
				found = append(found, dir)
			}
		}
	}
	return found
}

// firstLink returns the first link on the way from top to a path beneath it,
// and the path that is meant by it, or "".
func firstLink(top, path string) (link, target string) {
	rel, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", ""
	}
	elems := strings.Split(rel, string(filepath.Separator))
	at := top
	for i, elem := range elems {
		at = filepath.Join(at, elem)
		to, err := os.Readlink(at)
		if err != nil {
			continue
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		return at, filepath.Join(append([]string{to}, elems[i+1:]...)...)
	}
	return "", ""
}

// scriptEndings are those of files that interpreters run.
var scriptEndings = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".lua", ".php"}

// isScript reports whether a file that a command names is one that it runs,
// and not one that it reads or writes: it may be run, or is called as scripts
// are. Where nothing is yet, the name tells.
func isScript(path string) bool {
	info, err := os.Stat(path)
	called := slices.Contains(scriptEndings, filepath.Ext(path))
	if errors.Is(err, fs.ErrNotExist) {
		return called
	}
	return err == nil && info.Mode().IsRegular() && (called || info.Mode()&0o111 != 0)
}

// literal writes a path as a pattern that matches it alone.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// protectHooks keeps tools from the scripts of hooks. A child has the rules of
// its parent.
func (s *Session) protectHooks() error {
	if s.parent != nil || len(s.options.Hooks) == 0 {
		return nil
	}
	top, err := realPath(s.options.Workspace)
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	if err := s.loose(top); err != nil {
		return err
	}
	protected := slices.Clone(s.options.Files.Protected)
	for _, script := range s.hookScripts() {
		if rel, err := filepath.Rel(top, script); err == nil {
			protected = append(protected, "/"+literal.Replace(filepath.ToSlash(rel)))
		}
	}
	s.options.Files.Protected = protected
	return nil
}
