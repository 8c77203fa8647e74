package pdftext

import "math"

// A matrix maps (x, y) to (a·x + c·y + e, b·x + d·y + f).
type matrix struct{ a, b, c, d, e, f float64 }

var unit = matrix{a: 1, d: 1}

// mul returns the matrix that maps with m first and then with n.
func (m matrix) mul(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// A state is what the q and Q operators save and bring back.
type state struct {
	ctm                    matrix
	font                   *font
	size                   float64
	charSpace, wordSpace   float64
	scale, leading, raised float64
}

// An interpreter runs the content programs of one page.
type interpreter struct {
	d    *Document
	page Page
	out  layout

	state
	stack      []state
	text, line matrix
	resources  dict
	args       []object
	forms      map[int]bool // being drawn
}

// maxArgs is how many values are kept for an operator, which takes six.
const maxArgs = 32

// unpack is [Document.unpack] that counts what could not be read.
func (in *interpreter) unpack(s stream) []byte {
	data, ok := in.d.unpack(s)
	if !ok {
		in.page.Missing++
	}
	return data
}

// run runs a program.
func (in *interpreter) run(program []byte, resources dict, depth int) {
	if depth == 0 {
		in.state = state{ctm: unit, scale: 1}
	}
	outer := in.resources
	in.resources = resources
	defer func() { in.resources = outer }()
	l := lexer{d: in.d, data: program}
	in.args = in.args[:0]
	for {
		switch v := l.next(0).(type) {
		case end:
			return
		case operator:
			if v == "BI" {
				in.page.Pictures++
				skipInline(&l)
			} else {
				in.do(v, depth)
			}
			in.args = in.args[:0]
		default:
			if len(in.args) < maxArgs {
				in.args = append(in.args, v)
			}
		}
	}
}

// skipInline passes over a picture that stands in the program.
func skipInline(l *lexer) {
	for {
		switch v := l.next(0).(type) {
		case end:
			return
		case operator:
			if v != "ID" {
				continue
			}
			for ; l.pos+2 < len(l.data); l.pos++ {
				if blank(l.data[l.pos]) && l.data[l.pos+1] == 'E' && l.data[l.pos+2] == 'I' && (l.pos+3 == len(l.data) || blank(l.data[l.pos+3])) {
					l.pos += 3
					return
				}
			}
			l.pos = len(l.data)
			return
		}
	}
}

// num returns an argument, counted from the last one, which is 1.
func (in *interpreter) num(fromEnd int) float64 {
	if fromEnd > len(in.args) {
		return 0
	}
	n, _ := in.args[len(in.args)-fromEnd].(float64)
	return n
}

func (in *interpreter) last() object {
	if len(in.args) == 0 {
		return nil
	}
	return in.args[len(in.args)-1]
}

func (in *interpreter) matrix() matrix {
	return matrix{in.num(6), in.num(5), in.num(4), in.num(3), in.num(2), in.num(1)}
}

// do runs one operator; those that draw no text do nothing.
func (in *interpreter) do(op operator, depth int) {
	switch op {
	case "q":
		if len(in.stack) < 1000 {
			in.stack = append(in.stack, in.state)
		}
	case "Q":
		if n := len(in.stack); n > 0 {
			in.state, in.stack = in.stack[n-1], in.stack[:n-1]
		}
	case "cm":
		in.ctm = in.matrix().mul(in.ctm)
	case "Do":
		in.draw(depth)
	case "BT":
		in.text, in.line = unit, unit
	case "Tf":
		in.size = in.num(1)
		if len(in.args) >= 2 {
			in.font = in.fontOf(in.args[len(in.args)-2])
		}
	case "Tc":
		in.charSpace = in.num(1)
	case "Tw":
		in.wordSpace = in.num(1)
	case "Tz":
		in.scale = in.num(1) / 100
	case "TL":
		in.leading = in.num(1)
	case "Ts":
		in.raised = in.num(1)
	default:
		in.show(op)
	}
}

// show runs an operator that moves to a line or shows text.
func (in *interpreter) show(op operator) {
	switch op {
	case "Td":
		in.move(in.num(2), in.num(1))
	case "TD":
		in.leading = -in.num(1)
		in.move(in.num(2), in.num(1))
	case "Tm":
		in.line = in.matrix()
		in.text = in.line
	case "T*":
		in.move(0, -in.leading)
	case "'", `"`:
		if op == `"` {
			in.wordSpace, in.charSpace = in.num(3), in.num(2)
		}
		in.move(0, -in.leading)
		in.draws(in.last())
	case "Tj":
		in.draws(in.last())
	case "TJ":
		parts, _ := in.last().(array)
		for _, part := range parts {
			if n, ok := part.(float64); ok {
				in.advance(-n / 1000 * in.size * in.scale)
			} else {
				in.draws(part)
			}
		}
	}
}

func (in *interpreter) move(x, y float64) {
	in.line = matrix{1, 0, 0, 1, x, y}.mul(in.line)
	in.text = in.line
}

func (in *interpreter) advance(x float64) { in.text = matrix{1, 0, 0, 1, x, 0}.mul(in.text) }

// draws shows one string.
func (in *interpreter) draws(v object) {
	codes, ok := v.(text)
	if !ok || in.font == nil {
		return
	}
	for len(codes) > 0 {
		if in.d.tokens--; in.d.tokens <= 0 || in.d.tokens%1024 == 0 && in.d.ctx.Err() != nil {
			return
		}
		g := in.font.glyph(codes)
		codes = codes[g.length:]
		if g.text == "" {
			in.page.Unknown++
		}
		at := in.text.mul(in.ctm)
		width := g.width/1000*in.size + in.charSpace
		if g.length == 1 && g.code == ' ' {
			width += in.wordSpace
		}
		in.advance(width * in.scale)
		after := in.text.mul(in.ctm)
		in.out.add(g.text, spot{at.e, at.f}, spot{after.e, after.f}, at, math.Abs(in.size))
	}
}

// draw runs the program of a form.
func (in *interpreter) draw(depth int) {
	key, _ := in.last().(name)
	entry := in.d.dict(in.resources["XObject"])[key]
	form, ok := in.d.value(entry).(stream)
	if !ok || depth >= 16 {
		return
	}
	if form.dict["Subtype"] != name("Form") {
		in.page.Pictures++
		return
	}
	if r, ok := entry.(ref); ok {
		if in.forms[int(r)] {
			return
		}
		if in.forms == nil {
			in.forms = map[int]bool{}
		}
		in.forms[int(r)] = true
		defer delete(in.forms, int(r))
	}
	resources := in.d.dict(form.dict["Resources"])
	if resources == nil {
		resources = in.resources
	}
	saved, height := in.state, len(in.stack)
	if m, ok := in.d.value(form.dict["Matrix"]).(array); ok && len(m) == 6 {
		n := func(i int) float64 { return in.d.number(m[i]) }
		in.ctm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}.mul(in.ctm)
	}
	in.run(in.unpack(form), resources, depth+1)
	in.state, in.stack = saved, in.stack[:min(height, len(in.stack))]
}
