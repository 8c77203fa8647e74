package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Func makes a tool from a function over a struct of arguments. The schema
// is inferred as [InferSchema] says. The tool runs exclusively and has the
// effects that are given. A mistake in the declaration is reported when the
// tool is registered.
func Func[In any](name, description string, effects Effects, fn func(ctx context.Context, in In) (string, error)) Tool {
	return Typed[In]{
		Spec: Spec{Name: name, Description: description, Effects: effects},
		Handle: func(ctx context.Context, _ *Call, in In) (*Result, error) {
			text, err := fn(ctx, in)
			if err != nil {
				return nil, err
			}
			return Text(text), nil
		},
	}.Tool()
}

// Typed declares a tool whose arguments are a Go struct. Only Handle is
// required beside the spec's name and description.
type Typed[In any] struct {
	// Spec is the declaration. A nil Input is inferred from In.
	Spec Spec
	// Handle runs the call.
	Handle func(ctx context.Context, call *Call, in In) (*Result, error)
	// Assess says what the call would do. nil means all that the spec
	// declares.
	Assess func(ctx context.Context, in In) (Act, error)
	// Preflight checks a call before it goes to the background.
	Preflight func(ctx context.Context, in In) error
	// Resume advises how to go on after a cut.
	Resume func(in In, cut Cut) string
	// Key narrows exclusivity; it needs a spec that says [Keyed].
	Key func(in In) string
}

// Tool returns the tool.
func (t Typed[In]) Tool() Tool {
	made := &typed[In]{decl: t}
	if made.decl.Spec.Input == nil {
		made.decl.Spec.Input, made.err = InferSchema[In]()
	}
	if made.err == nil {
		made.defaults, made.err = schemaDefaults(made.decl.Spec.Input)
	}
	if made.err == nil && t.Handle == nil {
		made.err = fmt.Errorf("tool %q has no Handle function", t.Spec.Name)
	}
	if t.Assess == nil {
		return made
	}
	return assessed[In]{made}
}

type typed[In any] struct {
	decl     Typed[In]
	defaults json.RawMessage
	err      error
}

func (t *typed[In]) Spec() Spec   { return t.decl.Spec }
func (t *typed[In]) Check() error { return t.err }

// decode turns the arguments into In, over the schema's defaults, so that an
// explicit zero stays a zero.
func (t *typed[In]) decode(call *Call) (In, error) {
	if in, ok := call.decoded.(*In); ok {
		return *in, nil
	}
	in, err := t.decodeArgs(call.Args)
	if err == nil {
		call.decoded = &in
	}
	return in, err
}

func (t *typed[In]) decodeArgs(args json.RawMessage) (In, error) {
	var in In
	if t.defaults != nil {
		if err := json.Unmarshal(t.defaults, &in); err != nil {
			return in, fmt.Errorf("applying the defaults of %s: %w", t.decl.Spec.Name, err)
		}
	}
	if len(args) == 0 {
		return in, nil
	}
	// Numbers inside an interface keep all their digits.
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		return in, Invalidf("the arguments of %s do not fit: %w", t.decl.Spec.Name, err)
	}
	return in, nil
}

func (t *typed[In]) Run(ctx context.Context, call *Call) (*Result, error) {
	in, err := t.decode(call)
	if err != nil {
		return nil, err
	}
	return t.decl.Handle(ctx, call, in)
}

// assessed is a typed tool that can assess a call; one that cannot is judged
// by its declaration, and need not be asked.
type assessed[In any] struct{ *typed[In] }

func (t assessed[In]) Assess(ctx context.Context, call *Call) (Act, error) {
	in, err := t.decode(call)
	if err != nil {
		return Act{}, err
	}
	return t.decl.Assess(ctx, in)
}

func (t *typed[In]) Preflight(ctx context.Context, call *Call) error {
	if t.decl.Preflight == nil {
		return nil
	}
	in, err := t.decode(call)
	if err != nil {
		return err
	}
	return t.decl.Preflight(ctx, in)
}

func (t *typed[In]) Resume(call *Call, cut Cut) string {
	if t.decl.Resume == nil {
		return ""
	}
	in, err := t.decode(call)
	if err != nil {
		return ""
	}
	return t.decl.Resume(in, cut)
}

func (t *typed[In]) Key(args json.RawMessage) string {
	if t.decl.Key == nil {
		return ""
	}
	in, err := t.decodeArgs(args)
	if err != nil {
		return ""
	}
	return t.decl.Key(in)
}

var (
	_ Tool        = (*typed[struct{}])(nil)
	_ Checker     = (*typed[struct{}])(nil)
	_ Assesser    = assessed[struct{}]{}
	_ Preflighter = (*typed[struct{}])(nil)
	_ Resumer     = (*typed[struct{}])(nil)
	_ Keyer       = (*typed[struct{}])(nil)
)
