package shellparse

import "strings"

// Contains reports whether every command that q names is one that p names. It
// never says so where that is not so; of two patterns with wildcards in their
// middle it may fail to see it. With refuses, both are read as rules that
// refuse are, by the name of the program alone.
func (p *Pattern) Contains(q *Pattern, refuses bool) bool {
	mine, others := p.globs, q.globs
	if refuses {
		mine, others = p.folded, q.folded
	}
	for _, g := range others {
		// What stands for any text is matched by what stands for any text.
		any := strings.ReplaceAll(g, string(star), string(wild))
		if !p.anyMatch(mine, any, false) || q.more && !p.anyMatch(mine, any+" "+string(wild), false) {
			return false
		}
	}
	return len(others) > 0
}

// Example returns a command that the pattern names, without any of the
// arguments that it leaves open. A wildcard becomes the letter x.
func (p *Pattern) Example() string {
	words := strings.Split(p.globs[0], " ")
	for i, w := range words {
		w = strings.NewReplacer(string(star), "x", string(inner), " ").Replace(w)
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") != "" || w == "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}
