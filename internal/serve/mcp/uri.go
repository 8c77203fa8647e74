package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/handrail-tools/handrail"
)

// The addresses of resources have a scheme of their own. file:// would tell
// a client to open the file by itself, past the rules, would show it the
// paths of this machine, and could name neither a result nor a change. The
// part after the scheme says what it is; a path is relative to the workspace
// and percent-encoded, and the address has no query and no fragment.
const (
	scheme     = "handrail://"
	filesURI   = scheme + "files/"
	resultsURI = scheme + "results/"
	changesURI = scheme + "changes/"
	logURI     = scheme + "log"
)

// The two sides of a change, as an address names them.
const (
	sideBefore = "before"
	sideAfter  = "after"
)

// maxURI is the longest address, in bytes: a path of 4,096 of which each is
// written as three, and what stands before it.
const maxURI = 3*4096 + 100

// uriOf is the address of a resource.
func uriOf(r handrail.Resource) string {
	switch r.Kind {
	case handrail.ResourceFile:
		return filesURI + escapePath(r.Path)
	case handrail.ResourceResult:
		return resultsURI + r.ID
	case handrail.ResourceChange:
		return changesURI + r.ID
	case handrail.ResourceVersion:
		side := sideAfter
		if r.Before {
			side = sideBefore
		}
		return changesURI + r.ID + "/" + side + "/" + escapePath(r.Path)
	default:
		if r.Path == "" {
			return logURI
		}
		return logURI + "/" + escapePath(r.Path)
	}
}

func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// parseURI reads an address. Every way of writing one path but with more or
// fewer characters encoded is refused, so that a client which tells addresses
// apart by how they begin is not led past that by "..".
func parseURI(uri string) (handrail.Resource, error) {
	var r handrail.Resource
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok || len(uri) > maxURI {
		return r, errors.New("an address here begins with " + scheme + " and has at most 12,388 bytes")
	}
	kind, rest, slash := strings.Cut(rest, "/")
	var path string
	switch kind {
	case "files":
		path = rest
	case "results":
		r.Kind, r.ID = handrail.ResourceResult, rest
		return r, idOnly(r.ID)
	case "changes":
		var side string
		r.Kind = handrail.ResourceChange
		if r.ID, rest, slash = strings.Cut(rest, "/"); !slash {
			return r, idOnly(r.ID)
		}
		if side, path, _ = strings.Cut(rest, "/"); side != sideBefore && side != sideAfter {
			return r, fmt.Errorf("after the id of a change stands %q or %q, and then a path", sideBefore, sideAfter)
		}
		r.Kind, r.Before = handrail.ResourceVersion, side == sideBefore
		if err := idOnly(r.ID); err != nil {
			return r, err
		}
	case "log":
		r.Kind, path = handrail.ResourceLog, rest
		if !slash {
			return r, nil
		}
	default:
		return r, errors.New("an address is one of files/PATH, results/ID, changes/ID, changes/ID/before/PATH, changes/ID/after/PATH, log and log/PATH, each after " + scheme)
	}
	var err error
	r.Path, err = unescapePath(path)
	return r, err
}

// idOnly refuses what cannot be an id; whether it is one says the session.
func idOnly(id string) error {
	if id == "" || strings.ContainsFunc(id, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
		return errors.New("an id has lower-case letters, digits and \"_\"")
	}
	return nil
}

// unescapePath decodes a path, once. A "?" or "#" that stands plainly is part
// of it, since an address has nothing else that these could begin.
func unescapePath(escaped string) (string, error) {
	path, err := url.PathUnescape(escaped)
	switch {
	case err != nil:
		return "", errors.New("a \"%\" of the path is written as %25, and stands before two hexadecimal digits otherwise")
	case path == "." || !fs.ValidPath(path):
		return "", errors.New("a path is relative to the workspace, in UTF-8, without empty elements, \".\" and \"..\"")
	}
	return path, nil
}
