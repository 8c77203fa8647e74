package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// rule is one entry of a list.
type rule struct {
	host   string // "" matches every host
	below  bool   // host's sub-domains and not itself
	addr   netip.Addr
	port   uint16 // 0 is 80 and 443
	source string
}

// maxRules bounds a list.
const maxRules = 10_000

func parseRules(list string, entries []string) ([]rule, error) {
	if len(entries) > maxRules {
		return nil, fmt.Errorf("%s: %d hosts; at most %d", list, len(entries), maxRules)
	}
	var bad []error
	var rules []rule
	for _, e := range entries {
		r, err := parseRule(e)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %q: %w", list, e, err))
			continue
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(bad...)
}

func parseRule(entry string) (rule, error) {
	r := rule{source: entry}
	host, port, err := splitPort(entry)
	if err != nil {
		return r, err
	}
	r.port = port
	if host == "*" {
		return r, nil
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		r.addr = addr.WithZone("").Unmap()
		return r, nil
	}
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		r.below, host = true, rest
	}
	r.host, err = hostName(host)
	return r, err
}

// splitPort splits host, host:port, [address]:port and a bare IPv6 address.
// Without a port it returns 0.
func splitPort(s string) (host string, port uint16, err error) {
	if _, err := netip.ParseAddr(s); err == nil {
		return s, 0, nil
	}
	if !strings.Contains(s, ":") {
		return s, 0, nil
	}
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]"), 0, nil
	}
	host, text, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, errors.New("neither host nor host:port")
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("the port %q is not a number from 1 to 65535", text)
	}
	return host, uint16(n), nil
}

// hostName returns a name in the one spelling that is compared: lower case and
// without a final dot. A name with other letters than ASCII's must be given as
// the name server knows it, beginning with xn--.
func hostName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if s == "" || len(s) > 253 {
		return "", errors.New("a host name has 1 to 253 letters")
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return "", errors.New("an empty or too long part of a host name")
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return "", fmt.Errorf("%q cannot stand in a host name; write other alphabets in their xn-- form, and * only as a first part of its own", c)
			}
		}
	}
	return s, nil
}

// parseTarget reads what a command asked for.
func parseTarget(hostPort, scheme string) (Target, error) {
	host, port, err := splitPort(hostPort)
	if err != nil {
		return Target{}, err
	}
	if port == 0 {
		port = map[string]uint16{"http": 80, "https": 443}[scheme]
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return Target{addr.WithZone("").Unmap().String(), port}, nil
	}
	host, err = hostName(host)
	return Target{host, port}, err
}

// allows says that an entry of Allow lets t through; addr is t's host when that
// is an address.
func (r rule) allows(t Target, addr netip.Addr) bool {
	return (r.port == t.Port || r.port == 0 && (t.Port == 80 || t.Port == 443)) && r.names(t, addr)
}

// denies says that an entry of Deny keeps t out. Without a port it means all.
func (r rule) denies(t Target, addr netip.Addr) bool {
	return (r.port == t.Port || r.port == 0) && r.names(t, addr)
}

func (r rule) names(t Target, addr netip.Addr) bool {
	switch {
	case r.addr.IsValid():
		return r.addr == addr
	case r.host == "":
		return true
	case r.below:
		return strings.HasSuffix(t.Host, "."+r.host)
	}
	return t.Host == r.host
}

// decide returns the addresses that a target may be reached at, or why not.
func (p *Proxy) decide(ctx context.Context, t Target) ([]netip.AddrPort, *Refusal) {
	no := func(askable bool, format string, args ...any) *Refusal {
		return &Refusal{Target: t, Reason: fmt.Sprintf(format, args...), Askable: askable}
	}
	literal, _ := netip.ParseAddr(t.Host) // the zero Addr for a name
	if i := slices.IndexFunc(p.deny, func(r rule) bool { return r.denies(t, literal) }); i >= 0 {
		return nil, no(false, "the rule %q denies it", p.deny[i].source)
	}
	named := literal.IsValid() && slices.ContainsFunc(p.allow, func(r rule) bool { return r.addr.IsValid() && r.allows(t, literal) })
	if literal.IsValid() {
		// Nobody is asked about what is refused anyway.
		if why := inner(literal); why != "" && (!named || metadata(literal)) {
			return nil, no(false, "%s is %s", t.Host, why)
		}
	}
	if !slices.ContainsFunc(p.allow, func(r rule) bool { return r.allows(t, literal) }) {
		if p.config.Approve == nil {
			return nil, no(true, "it is not among the allowed hosts")
		}
		ok, err := p.ask(ctx, t)
		if err != nil {
			return nil, no(true, "nobody allowed it (%v)", err)
		}
		if !ok {
			return nil, no(false, "a person refused it")
		}
	}
	if literal.IsValid() {
		return []netip.AddrPort{netip.AddrPortFrom(literal, t.Port)}, nil
	}
	return p.resolve(ctx, t, no)
}

// resolve looks a name up and refuses it when any address is not public: a
// name that has one is used to get inside, or is a mistake.
func (p *Proxy) resolve(ctx context.Context, t Target, no func(bool, string, ...any) *Refusal) ([]netip.AddrPort, *Refusal) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addrs, err := p.config.Resolve(ctx, t.Host)
	if err != nil {
		return nil, no(false, "its name cannot be resolved (%v)", err)
	}
	if len(addrs) == 0 {
		return nil, no(false, "its name has no address")
	}
	var list []netip.AddrPort
	for _, a := range addrs {
		a = a.WithZone("").Unmap()
		if why := inner(a); why != "" {
			return nil, no(false, "its name leads to %s, which is %s", a, why)
		}
		if denied := slices.IndexFunc(p.deny, func(r rule) bool { return r.addr.IsValid() && r.denies(t, a) }); denied >= 0 {
			return nil, no(false, "its name leads to %s, which the rule %q denies", a, p.deny[denied].source)
		}
		list = append(list, netip.AddrPortFrom(a, t.Port))
	}
	return list, nil
}

// question is one that is being asked.
type question struct {
	done    chan struct{}
	waiting int
	cancel  context.CancelFunc
	ok      bool
	err     error
}

// ask asks a person, once for all that wait for the same answer.
func (p *Proxy) ask(ctx context.Context, t Target) (bool, error) {
	p.mu.Lock()
	if ok, known := p.answers[t]; known {
		p.mu.Unlock()
		return ok, nil
	}
	q := p.asking[t]
	if q == nil {
		var asked context.Context
		q = &question{done: make(chan struct{})}
		asked, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
		p.asking[t] = q
		p.work.Go(func() { p.answer(asked, t, q) })
	}
	q.waiting++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if q.waiting--; q.waiting == 0 {
			q.cancel()
		}
	}()
	select {
	case <-q.done:
		return q.ok, q.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// answer waits for a person and remembers.
func (p *Proxy) answer(ctx context.Context, t Target, q *question) {
	ok, err := p.config.Approve(ctx, t)
	p.mu.Lock()
	defer p.mu.Unlock()
	q.ok, q.err = ok && err == nil, err
	delete(p.asking, t)
	if err == nil && len(p.answers) < maxAnswers {
		p.answers[t] = ok
	}
	close(q.done)
}

// special are the ranges that are not public, from the special-purpose address
// registries of IANA (RFC 6890 and its updates), with what to say of them.
var special = sync.OnceValue(func() []struct {
	netip.Prefix
	what string
} {
	var list []struct {
		netip.Prefix
		what string
	}
	for what, prefixes := range map[string]string{
		"this machine":                       "127.0.0.0/8 ::1/128 0.0.0.0/8 ::/128",
		"a private network":                  "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10 100.64.0.0/10",
		"link-local":                         "169.254.0.0/16 fe80::/10",
		"not one host":                       "224.0.0.0/4 ff00::/8 255.255.255.255/32",
		"reserved":                           "240.0.0.0/4 192.0.0.0/24 192.88.99.0/24 198.18.0.0/15 100::/64 2001::/23 5f00::/16 ::/96",
		"for documentation only":             "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
		"translated to an address elsewhere": "64:ff9b::/96 64:ff9b:1::/48 2002::/16",
	} {
		for text := range strings.FieldsSeq(prefixes) {
			list = append(list, struct {
				netip.Prefix
				what string
			}{netip.MustParsePrefix(text), what})
		}
	}
	return list
})

// inner says what kind of address a is when it is not a public one, or "".
func inner(a netip.Addr) string {
	if metadata(a) {
		return "a metadata service"
	}
	for _, s := range special() {
		if s.Contains(a) {
			return s.what
		}
	}
	return ""
}

// metadata says that a is where clouds hand out the machine's credentials:
// 169.254.169.254 and its neighbours, Alibaba's 100.100.100.200, AWS's and
// Oracle's fd00:ec2::254 and fd00:c1::a9fe:a9fe.
func metadata(a netip.Addr) bool {
	switch a.String() {
	case "169.254.169.254", "169.254.169.253", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd00:c1::a9fe:a9fe", "fd20:ce::254":
		return true
	}
	return false
}
