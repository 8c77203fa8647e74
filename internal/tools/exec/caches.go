package exec

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/process"
	"github.com/handrail-tools/handrail/internal/sandbox"
)

// caches are the build tools that fail where they cannot write their cache,
// by the variable that names it. Others do without one.
var caches = [][2]string{{"GOCACHE", "go-build"}, {"npm_config_cache", "npm"}}

// cached gives build tools a cache that their fence lets them write. The
// person's own it must not be: who can write that decides what programs the
// person builds outside of the fence.
func (k *Kit) cached(env []string, r sandbox.Report) []string {
	if r.Driver == sandbox.None || r.Policy.Mode == sandbox.FullAccess {
		return env
	}
	dir := k.Cache
	if dir == "" || r.Policy.Mode == sandbox.ReadOnly {
		dir = tempOf(r.Env)
	}
	var set []string
	for _, c := range caches {
		if !k.names(c[0]) {
			set = append(set, c[0]+"="+filepath.Join(dir, c[1]))
		}
	}
	return process.Override(env, set)
}

// names reports whether the operator has decided about a variable.
func (k *Kit) names(variable string) bool {
	return slices.Contains(k.Environment.Pass, variable) ||
		slices.ContainsFunc(k.Environment.Set, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
}

// tempOf is the temporary folder of a fence.
func tempOf(env []string) string {
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok {
			return dir
		}
	}
	return "/tmp"
}
