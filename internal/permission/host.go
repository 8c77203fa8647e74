package permission

import (
	"net/netip"
	"strconv"
	"strings"
)

// parseHost returns the name or address in a host as tools state it: with or
// without a port, in either case, with or without the final dot. An address
// comes back in its shortest form, without a zone. ok is false for everything
// else, and for what some resolvers read as an address and others do not
// ("0x7f.1"): no rule can say what that is.
func parseHost(s string) (name string, port, ok bool) {
	if rest, bracket := strings.CutPrefix(s, "["); bracket {
		inner, after, closed := strings.Cut(rest, "]")
		addr, err := netip.ParseAddr(inner)
		if !closed || err != nil || after != "" && !isPort(after) {
			return "", false, false
		}
		return canonical(addr), after != "", true
	}
	if addr, err := netip.ParseAddr(s); err == nil {
		return canonical(addr), false, true
	}
	if i := strings.IndexByte(s, ':'); i >= 0 {
		if !isPort(s[i:]) {
			return "", false, false
		}
		s, port = s[:i], true
	}
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if addr, err := netip.ParseAddr(s); err == nil {
		return canonical(addr), port, true
	}
	return s, port, isName(s)
}

func canonical(a netip.Addr) string { return a.Unmap().WithZone("").String() }

// isPort reports whether s is a colon and a port.
func isPort(s string) bool {
	_, err := strconv.ParseUint(s[1:], 10, 16)
	return s[0] == ':' && err == nil
}

// isName reports whether s is a name of the DNS in lower case. International
// names are names in their "xn--" form only.
func isName(s string) bool {
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}
