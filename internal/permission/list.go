package permission

// A list is one list of rules. Those about commands stand apart, so that many
// of them cost no more than a few.
type list struct {
	// rules are all, as they were written; plain those about anything else
	// than commands.
	rules, plain []rule
	commands     commands
}

func (l *list) compile(rules []rule) {
	l.rules = rules
	var about []rule
	for _, r := range rules {
		if r.command != nil {
			about = append(about, r)
		} else {
			l.plain = append(l.plain, r)
		}
	}
	if about != nil {
		l.commands = compileCommands(about)
	}
}

// hit returns the rule of a list that refuses or asks, a sure one if there is
// one.
func (l *list) hit(a *Act, denies bool) (hit, bool) {
	if r, ok := matchAny(l.plain, *a, denies); ok {
		return hit{rule: r.text, sure: true}, true
	}
	best, found := l.commands.hit(a)
	if !best.sure {
		if h, ok := hitByNames(l.plain, a); ok && (!found || h.sure) {
			best, found = h, true
		}
	}
	return best, found
}

// A hit is why a rule that refuses or asks decides about an act.
type hit struct {
	rule string
	// sure is false where the act could be what the rule is about and could
	// be something else.
	sure bool
	// part says which part of a command it is, or "".
	part string
}

// reason says what a rule covers, or may cover: a part of a command, or the
// whole call.
func (h hit) reason(verb, whole string) string {
	if h.part == "" {
		return verb + whole
	}
	text := verb + "a part of the command: " + h.part
	if !h.sure {
		text += ". A command whose every part stands there plainly can be judged without a question"
	}
	return text
}
