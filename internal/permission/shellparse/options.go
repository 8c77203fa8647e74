package shellparse

import "strings"

// An option is one that was given, in the spelling that stands for all of its
// spellings.
type option struct {
	name  string
	fact  optionFact
	known bool
	value Word
	has   bool // value was given
}

// A reading is a command's words told apart into options and the rest.
type reading struct {
	options []option
	// rest are the indexes of the words that are no options.
	rest []int
	// odd is an option that is not known: what follows may be its value.
	odd string
	// loose: a word that is not known could be an option.
	loose bool
}

// read tells options from arguments. With first, the first argument ends the
// options, as for programs that run another: env, git, sudo.
func (e *entry) read(words []Word, first bool) reading {
	var r reading
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w.shape == "--" && w.Known:
			for i++; i < len(words); i++ {
				r.rest = append(r.rest, i)
			}
			return r
		case !w.Known && w.mayBeOption():
			r.loose = true
			r.rest = append(r.rest, i)
		case isOption(w.shape) || e.plus && len(w.shape) > 1 && w.shape[0] == '+':
			var took bool
			if strings.HasPrefix(w.shape, "--") || e.single {
				took = r.long(e, words, i)
			} else {
				took = r.short(e, words, i)
			}
			if took {
				i++
			}
		default:
			if first {
				for ; i < len(words); i++ {
					r.rest = append(r.rest, i)
				}
				return r
			}
			r.rest = append(r.rest, i)
		}
	}
	return r
}

func isOption(shape string) bool { return len(shape) > 1 && shape[0] == '-' }

// add notes an option, and whether the next word is its value.
func (r *reading) add(name string, f optionFact, known bool, attached *Word, words []Word, i int) (took bool) {
	o := option{name: name, fact: f, known: known}
	if f.same != "" {
		o.name = f.same
	}
	switch {
	case attached != nil:
		o.value, o.has = *attached, true
	case f.takes && i+1 < len(words):
		o.value, o.has = words[i+1], true
		took = true
	}
	if !known && r.odd == "" {
		r.odd = name
	}
	r.options = append(r.options, o)
	return took
}

// long reads --name, --name=value and, as GNU programs do, the beginning of a
// name that only one has.
func (r *reading) long(e *entry, words []Word, i int) bool {
	w := words[i]
	name, value, has := strings.Cut(w.shape, "=")
	f, known := e.options[name]
	if !known && strings.HasPrefix(name, "--") && len(name) > 3 {
		full := ""
		for candidate := range e.options {
			if strings.HasPrefix(candidate, name) {
				if full != "" && e.options[candidate].role <= e.options[full].role {
					continue
				}
				// The worst of several is taken: it may be the one meant.
				full = candidate
			}
		}
		if full != "" {
			name = full
			f, known = e.options[full]
		}
	}
	known = known || e.anyOption
	var attached *Word
	if has {
		v := w.tail(len(w.shape)-len(value), value)
		attached = &v
	}
	if strings.IndexByte(name, wild) >= 0 {
		known = false
	}
	return r.add(name, f, known, attached, words, i)
}

// short reads -abc, -ovalue and -o value.
func (r *reading) short(e *entry, words []Word, i int) bool {
	w := words[i]
	if f, ok := e.options[w.shape]; ok {
		return r.add(w.shape, f, true, nil, words, i)
	}
	for at := 1; at < len(w.shape); at++ {
		name := w.shape[:1] + w.shape[at:at+1]
		f, known := e.options[name]
		known = (known || e.anyOption) && w.shape[at] != wild
		tail := w.shape[at+1:]
		if (f.takes || f.maybe) && tail != "" {
			v := w.tail(at+1, strings.TrimPrefix(tail, "="))
			return r.add(name, f, known, &v, words, i)
		}
		if r.add(name, f, known, nil, words, i) {
			return true
		}
	}
	return false
}

// tail returns the end of a word, as a word.
func (w Word) tail(at int, shape string) Word {
	t := Word{Text: shape, Known: w.Known || strings.IndexByte(shape, wild) < 0, Computed: w.Computed, Glob: w.Glob, Many: w.Many, shape: shape}
	if !t.Known {
		t.Text = w.Text
	}
	if at > len(w.shape) {
		t.Known = false
	}
	return t
}
