package workspace

import (
	"fmt"
	"path"
	"strings"

	"github.com/handrail-tools/handrail/internal/foldname"
	"github.com/handrail-tools/handrail/tool"
)

// alwaysProtected are never written through a workspace: the user's
// repository with its hooks and settings, which run code, and Handrail's own
// state. Codex and Claude Code keep the first from their agents as well.
var alwaysProtected = []string{".git", ".handrail"}

// defaultUnreadable are the places where well-known programs keep secrets,
// each as its own manual names it. The list is short on purpose: a name that
// projects also use for harmless files (.env, .npmrc, *.pem) is left to the
// operator.
var defaultUnreadable = []string{
	// ssh(1), FILES, and ssh-keygen(1), the names of identity files.
	".ssh", "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
	".gnupg",           // gpg(1), home directory
	".password-store",  // pass(1)
	".netrc", "_netrc", // curl(1), --netrc
	".git-credentials", ".config/git/credentials", // git-credential-store(1)
	".aws/credentials", ".aws/sso/cache", // AWS CLI, configuration files
	".config/gcloud",                                // gcloud, configurations
	".azure",                                        // az, configuration directory
	".kube/config",                                  // kubectl, kubeconfig
	".docker/config.json",                           // docker login
	".config/gh/hosts.yml",                          // gh help environment
	".pgpass",                                       // libpq, the password file
	".my.cnf",                                       // mysql, option files
	".pypirc",                                       // twine
	".cargo/credentials", ".cargo/credentials.toml", // cargo login
	".terraform.d/credentials.tfrc.json", // terraform login
	".vault-token",                       // vault login
	".local/share/keyrings",              // gnome-keyring
	"Library/Keychains",                  // macOS security(1)
	".mozilla/firefox/*/logins.json",     // Firefox profile
	".config/google-chrome/*/Login Data", // Chrome profile
	".config/chromium/*/Login Data",      // Chromium profile
}

// DefaultUnreadable returns the patterns that are used when
// [Options].Unreadable is nil.
func DefaultUnreadable() []string { return append([]string(nil), defaultUnreadable...) }

// A rule is a pattern for a run of path elements, compared without regard to
// case: a file system that ignores case would otherwise open .git under the
// name .GIT. It covers what it names and everything beneath.
type rule struct {
	text     string
	anchored bool
	elems    []string
	literal  []bool // whether elems[i] has no wildcard
}

type rules struct {
	list []rule
	// firsts are the first elements of the rules; wild says that one of
	// them has a wildcard. Most paths have none of them and are done with
	// that.
	firsts map[string]bool
	wild   bool
}

// parseRules reads patterns. Elements are divided by "/", each may use the
// wildcards of [path.Match], a leading "/" ties the pattern to the top of
// the folder.
func parseRules(patterns []string) (rules, error) {
	var out rules
	for _, p := range patterns {
		r := rule{text: p, anchored: strings.HasPrefix(p, "/")}
		body := strings.TrimSuffix(strings.TrimPrefix(p, "/"), "/")
		if body == "" {
			return rules{}, fmt.Errorf("pattern %q names nothing", p)
		}
		for elem := range strings.SplitSeq(body, "/") {
			switch {
			case elem == "" || elem == "." || elem == "..":
				return rules{}, fmt.Errorf("pattern %q has the element %q, which no path has", p, elem)
			case strings.Contains(elem, "**"):
				return rules{}, fmt.Errorf("pattern %q: a wildcard stays within one element; leave ** out, a pattern matches at any depth", p)
			}
			if _, err := path.Match(elem, ""); err != nil {
				return rules{}, fmt.Errorf("pattern %q: %w", p, err)
			}
			r.elems = append(r.elems, foldname.Elem(elem))
			r.literal = append(r.literal, !strings.ContainsAny(elem, `*?[\`))
		}
		out.add(r)
	}
	return out, nil
}

func (rs *rules) add(r rule) {
	if rs.firsts == nil {
		rs.firsts = make(map[string]bool)
	}
	rs.list = append(rs.list, r)
	rs.firsts[r.elems[0]] = true
	rs.wild = rs.wild || !r.literal[0]
}

// mayMatch reports whether an element of p is the first one of a rule.
func (rs *rules) mayMatch(p string) bool {
	if rs.wild {
		return true
	}
	for elem := range strings.SplitSeq(p, "/") {
		if rs.firsts[foldname.Elem(elem)] {
			return true
		}
	}
	return false
}

// match returns the text of the first rule that covers p, a clean relative
// path, or "".
func (rs *rules) match(p string) string {
	if p == "." || len(rs.list) == 0 || !rs.mayMatch(p) {
		return ""
	}
	var room [24]string
	elems := room[:0]
	for elem := range strings.SplitSeq(p, "/") {
		elems = append(elems, foldname.Elem(elem))
	}
	for i := range rs.list {
		if rs.list[i].covers(elems) {
			return rs.list[i].text
		}
	}
	return ""
}

func (r *rule) covers(elems []string) bool {
	last := len(elems) - len(r.elems)
	if r.anchored {
		last = min(last, 0)
	}
	for at := 0; at <= last; at++ {
		if r.at(elems[at:]) {
			return true
		}
	}
	return false
}

func (r *rule) at(elems []string) bool {
	for i, want := range r.elems {
		if r.literal[i] {
			if want != elems[i] {
				return false
			}
			continue
		}
		if ok, err := path.Match(want, elems[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// Patterns returns the rules that refuse reading and those that refuse
// writing, as they were written.
func (w *Workspace) Patterns() (unreadable, protected []string) {
	texts := func(rs rules) (out []string) {
		for _, r := range rs.list {
			out = append(out, r.text)
		}
		return out
	}
	return texts(w.unreadable), texts(w.protected)
}

// unreadableBy names the closed path or the rule that keeps at from being
// read, or "".
func (w *Workspace) unreadableBy(at place) string {
	if path := at.zone.closed.match(at.path); path != "" {
		return path
	}
	return w.unreadable.matched(at)
}

// judgeRead refuses what may not be read. name is how the caller put it.
func (w *Workspace) judgeRead(at place, name string) error {
	if at.zone.closed.match(at.path) != "" {
		return denied(ErrUnreadable, "%s is closed to tools: what decides over them is kept there%s", tool.Clip(name), at.via(name))
	}
	if rule := w.unreadable.matched(at); rule != "" {
		return denied(ErrUnreadable, "%s may not be read: the rule %q keeps credentials away from tools%s",
			tool.Clip(name), tool.Clip(rule), at.via(name))
	}
	return nil
}

// A use is what is to be done with a path.
type use uint8

const (
	// toWrite gives a file content.
	toWrite use = iota
	// toMake makes a folder, or goes through it.
	toMake
	// toTake removes something or moves it away.
	toTake
)

// judgeWrite refuses what may not be written.
func (w *Workspace) judgeWrite(at place, name string) error { return w.judge(at, name, toWrite) }

// judge refuses what may not be changed in the way that to says.
func (w *Workspace) judge(at place, name string, to use) error {
	if err := w.judgeRead(at, name); err != nil {
		return err
	}
	why, err := w.unwritable(at, to)
	if err != nil {
		return denied(err, "%s may not be written: %s%s", tool.Clip(name), why, at.via(name))
	}
	return nil
}

// unwritable says why at may not be changed, with the cause, or "", nil.
func (w *Workspace) unwritable(at place, to use) (string, error) {
	if w.readOnly {
		return "this workspace is read-only", ErrReadOnly
	}
	if at.zone.kind == ZoneReadOnly {
		return "it lies in a read-only folder", ErrReadOnly
	}
	// What is left of an inner zone here is its name in another case, by
	// which some file systems would open it.
	for _, in := range at.zone.inner {
		if in.zone.kind == ZoneReadOnly && beneath(in.rest, at.path) {
			return "it lies in a read-only folder", ErrReadOnly
		}
	}
	if at.zone.kind == ZoneRoot {
		for _, top := range w.readOnlyBelow {
			if beneath(top, at.path) {
				return "it lies in the read-only folder " + tool.Clip(top), ErrReadOnly
			}
		}
	}
	if rule := w.protected.matched(at); rule != "" {
		return fmt.Sprintf("%q is protected", tool.Clip(rule)), ErrProtected
	}
	for i := range w.fences {
		if why := w.fences[i].refuses(at, to); why != "" {
			return why, ErrNotGranted
		}
	}
	return "", nil
}

// beneath reports whether p is top or below it; both are clean relative
// paths, compared as rules are.
func beneath(top, p string) bool {
	if top == "." {
		return true
	}
	if len(p) < len(top) || !strings.EqualFold(p[:len(top)], top) {
		return false
	}
	return len(p) == len(top) || p[len(top)] == '/'
}
