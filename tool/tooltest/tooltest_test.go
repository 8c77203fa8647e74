package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// recorder notes what a check complains about.
type recorder struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.Errorf("%s", fmt.Sprint(args...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// complaints runs the suite until it says what is wanted, or the whole of it
// where nothing is, and returns all that it says, each line with the name of
// its check.
func complaints(t *testing.T, tl tool.Tool, opts Options, want string) []string {
	t.Helper()
	var all []string
	for _, c := range checks {
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.try(r, newSubject(tl, opts))
		}()
		<-done
		r.mu.Lock()
		for _, line := range r.said {
			all = append(all, c.name+": "+line)
		}
		r.mu.Unlock()
		if want != "" && strings.Contains(strings.Join(all, "\n"), want) {
			break
		}
	}
	return all
}

// fake is a tool whose every part can be made wrong.
type fake struct {
	spec    func() tool.Spec
	run     func(ctx context.Context, call *tool.Call) (*tool.Result, error)
	assess  func(ctx context.Context, call *tool.Call) (tool.Act, error)
	resume  func(call *tool.Call, cut tool.Cut) string
	key     func(args json.RawMessage) string
	flight  func(ctx context.Context, call *tool.Call) error
	checked error
}

func (f *fake) Spec() tool.Spec { return f.spec() }
func (f *fake) Run(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	return f.run(ctx, call)
}
func (f *fake) Assess(ctx context.Context, call *tool.Call) (tool.Act, error) {
	return f.assess(ctx, call)
}
func (f *fake) Resume(call *tool.Call, cut tool.Cut) string          { return f.resume(call, cut) }
func (f *fake) Key(args json.RawMessage) string                      { return f.key(args) }
func (f *fake) Preflight(ctx context.Context, call *tool.Call) error { return f.flight(ctx, call) }
func (f *fake) Check() error                                         { return f.checked }

const goodInput = `{"type":"object","properties":{"n":{"type":"integer","description":"a number","default":3}},"additionalProperties":false}`

// good returns a tool without a fault, to be spoilt.
func good() *fake {
	spec := tool.Spec{
		Name: "count", Description: "Counts.", Input: json.RawMessage(goodInput),
		Output:  json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		Effects: tool.Read, Concurrency: tool.Safe, Tags: []string{"test"}, Aliases: []string{"counter"},
	}
	return &fake{
		spec: func() tool.Spec { return spec },
		run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in struct{ N int }
			if err := json.Unmarshal(call.Args, &in); err != nil {
				return nil, tool.Invalidf("the arguments do not fit: %w", err)
			}
			if in.N == 13 {
				return nil, tool.Failf("13 is not counted")
			}
			if in.N == 99 {
				<-ctx.Done()
				return nil, tool.Errorf(tool.CodeCancelled, "stopped: %w", ctx.Err())
			}
			return &tool.Result{OK: true, Text: "counted", Structured: json.RawMessage(fmt.Sprintf(`{"n":%d}`, in.N))}, nil
		},
		assess: func(context.Context, *tool.Call) (tool.Act, error) {
			return tool.Act{Effects: tool.Read, Reads: []string{"x"}, Summary: "count"}, nil
		},
		resume: func(*tool.Call, tool.Cut) string { return "Ask again." },
		key:    func(json.RawMessage) string { return "" },
		flight: func(context.Context, *tool.Call) error { return nil },
	}
}

func goodOptions() Options {
	return Options{
		Examples: []Example{{Args: `{"n":1}`}, {Name: "unlucky", Args: `{"n":13}`, Code: tool.CodeFailed}},
		Blocking: `{"n":99}`,
		Patience: time.Second,
	}
}

func TestGoodToolPasses(t *testing.T) { Run(t, good(), goodOptions()) }

// TestTypedToolPasses holds the suite against the typed helper, with a
// directory to watch and a context to make.
func TestTypedToolPasses(t *testing.T) {
	type in struct {
		Name string `json:"name" jsonschema:"name of the file" min:"1" pattern:"^[a-z]+$"`
		Text string `json:"text" jsonschema:"what to write" default:"hello"`
	}
	type key struct{}
	dir := t.TempDir()
	write := tool.Typed[in]{
		Spec: tool.Spec{Name: "put", Description: "Writes a file.", Effects: tool.Write},
		Handle: func(ctx context.Context, _ *tool.Call, in in) (*tool.Result, error) {
			if in.Name == "" {
				return nil, tool.Invalidf("name is missing")
			}
			if err := os.WriteFile(filepath.Join(ctx.Value(key{}).(string), in.Name), []byte(in.Text), 0o600); err != nil {
				return nil, err
			}
			return &tool.Result{OK: true, Text: "written", Changed: []string{in.Name}}, nil
		},
		Assess: func(_ context.Context, in in) (tool.Act, error) {
			return tool.Act{Effects: tool.Write, Writes: []string{in.Name}}, nil
		},
	}.Tool()
	Run(t, write, Options{
		Dir:      dir,
		Context:  func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, dir) },
		Examples: []Example{{Args: `{"name":"a"}`, Setup: func(testing.TB) {}}},
	})
}

// TestBadToolsAreCaught spoils one thing at a time and wants it named by the
// check that is for it.
func TestBadToolsAreCaught(t *testing.T) {
	spec := func(spoil func(*tool.Spec)) func(*fake, *Options) {
		return func(f *fake, _ *Options) {
			s := f.spec()
			spoil(&s)
			f.spec = func() tool.Spec { return s }
		}
	}
	input := func(schema string) func(*fake, *Options) {
		return spec(func(s *tool.Spec) { s.Input = json.RawMessage(schema) })
	}
	result := func(r *tool.Result, err error) func(*fake, *Options) {
		return func(f *fake, _ *Options) {
			f.run = func(context.Context, *tool.Call) (*tool.Result, error) {
				if r == nil {
					return nil, err
				}
				again := *r
				return &again, err
			}
		}
	}
	act := func(a tool.Act) func(*fake, *Options) {
		return func(f *fake, _ *Options) {
			f.assess = func(context.Context, *tool.Call) (tool.Act, error) { return a, nil }
		}
	}
	property := func(p string) func(*fake, *Options) {
		return input(`{"type":"object","properties":{"n":` + p + `},"additionalProperties":false}`)
	}
	n := json.RawMessage(`{"n":1}`)
	for _, tc := range []struct {
		name  string
		spoil func(*fake, *Options)
		want  string
	}{
		{"name", spec(func(s *tool.Spec) { s.Name = "count!" }), "Declaration: the name \"count!\" does not match"},
		{"long name", spec(func(s *tool.Spec) { s.Name = strings.Repeat("x", 65) }), "Declaration: the name"},
		{"no name", spec(func(s *tool.Spec) { s.Name = "" }), "Declaration: the name"},
		{"alias", spec(func(s *tool.Spec) { s.Aliases = []string{"a b"} }), `Declaration: the alias "a b"`},
		{"alias is the name", spec(func(s *tool.Spec) { s.Aliases = []string{"count"} }), "is the name or another alias"},
		{"no description", spec(func(s *tool.Spec) { s.Description = " \n" }), "Declaration: the description is empty"},
		{"trailing space", spec(func(s *tool.Spec) { s.Description = "Counts.\n" }), "Declaration: the description has space around it"},
		{"broken description", spec(func(s *tool.Spec) { s.Description = "\xff" }), "not valid UTF-8"},
		{"title", spec(func(s *tool.Spec) { s.Title = "a\nb" }), "Declaration: the title"},
		{"tag", spec(func(s *tool.Spec) { s.Tags = []string{""} }), "Declaration: the tag"},
		{"timeout", spec(func(s *tool.Spec) { s.Timeout = time.Hour }), "Declaration: the timeout 1h0m0s"},
		{"timeout and person", spec(func(s *tool.Spec) { s.Timeout, s.WaitsForPerson = time.Second, true }), "waits for a person"},
		{"output budget", spec(func(s *tool.Spec) { s.OutputBytes = -1 }), "Declaration: the output budget"},
		{"output budget too large", spec(func(s *tool.Spec) { s.OutputBytes = 1 << 30 }), "Declaration: the output budget"},
		{"pure and more", spec(func(s *tool.Spec) { s.Effects = tool.Pure | tool.Read }), "touches nothing and what it touches"},
		{"effect bits", spec(func(s *tool.Spec) { s.Effects = 1 << 15 }), "bits that mean nothing"},
		{"safe writer", spec(func(s *tool.Spec) { s.Effects = tool.Write }), "declared safe to run beside"},
		{"own mistake", func(f *fake, _ *Options) { f.checked = errors.New("no handle") }, "Declaration: the tool reports a mistake"},
		{"no schema", input(``), "Arguments: compiling the input schema"},
		{"schema of a text", input(`{"type":"string"}`), `Arguments: compiling the input schema of count: the root must say "type": "object"`},
		{"dialect", input(`{"type":"object","$schema":"x:y"}`), "not supported"},
		{"open schema", input(`{"type":"object","properties":{"n":{"type":"integer","description":"n"}}}`), `Arguments: the arguments take any further key`},
		{"open inside", property(`{"type":"object","description":"n","properties":{"m":{"description":"m"}}}`), "the argument n take any further key"},
		{"open items", property(`{"type":"array","description":"n","items":{"type":"object","properties":{"m":{"description":"m"}}}}`), "the items of the argument n take any"},
		{"no words for a property", property(`{"type":"integer"}`), "Arguments: the description of the argument n is empty"},
		{"no words inside", property(`{"type":"object","description":"n","properties":{"m":{}},"additionalProperties":false}`), "the description of the argument m is empty"},
		{"space in words", property(`{"type":"integer","description":"n "}`), "the description of the argument n has space"},
		{"default", property(`{"type":"integer","description":"n","default":"3"}`), `the default of the argument n is "3"`},
		{"example in the schema", property(`{"type":"integer","description":"n","examples":[1,null]}`), `an example of the argument n is null`},
		{"impossible property", property(`{"description":"n","type":"integer","enum":["a"]}`), "takes no value at all"},
		{"alias of nothing", spec(func(s *tool.Spec) { s.ArgAliases = map[string][]string{"m": {"x"}} }), `Arguments: reading the argument aliases of count: "m" is no argument`},
		{"output schema", spec(func(s *tool.Spec) { s.Output = json.RawMessage(`{"type":"x"}`) }), "Arguments: the output schema"},
		{"output no object", spec(func(s *tool.Spec) { s.Output = json.RawMessage(`{"type":"array"}`) }), "Arguments: the output schema does not say"},
		{"unstable", func(f *fake, _ *Options) {
			s, calls := f.spec(), 0
			f.spec = func() tool.Spec {
				calls++
				s.Description = fmt.Sprintf("Call %d.", calls)
				return s
			}
		}, "Stable: the spec differs"},
		{"no examples", func(_ *fake, o *Options) { o.Examples = nil }, "Examples: no example succeeds"},
		{"invalid example", func(_ *fake, o *Options) { o.Examples[0].Args = `{"N":1}` }, "Examples: {\"N\":1}: the arguments of the example are not valid as they stand"},
		{"wrong outcome", func(_ *fake, o *Options) { o.Examples[1].Code = "" }, `Examples: unlucky: the call ended with "failed", want ""`},
		{"nothing", result(nil, nil), "neither a result nor an error"},
		{"both", result(tool.Text("x"), errors.New("x")), "both a result and the error"},
		{"code of a success", result(&tool.Result{OK: true, Code: tool.CodeFailed, Structured: n}, nil), "is OK and has the code"},
		{"no code of a failure", result(&tool.Result{Text: "x"}, nil), "is not OK and has no code"},
		{"own code", result(&tool.Result{Code: "mine", Text: "x"}, nil), `the code "mine" is none of the contract`},
		{"silent failure", result(&tool.Result{Code: tool.CodeFailed, Text: " "}, nil), "says nothing"},
		{"long error", result(nil, &tool.Error{Code: tool.CodeFailed, Text: strings.Repeat("x", tool.MaxErrorText+1)}), "the error has 4097 bytes"},
		{"field of the journey", result(&tool.Result{OK: true, Structured: n, ID: "x"}, nil), "a field that is the journey's"},
		{"broken text", result(&tool.Result{OK: true, Structured: n, Text: "\xff"}, nil), "the text is not valid UTF-8"},
		{"empty image", result(&tool.Result{OK: true, Structured: n, Media: []tool.Media{{MIME: "image/png"}}}, nil), "media 0 has the type"},
		{"changes undeclared", result(&tool.Result{OK: true, Structured: n, Changed: []string{"x"}}, nil), `says that ["x"] changed`},
		{"metadata", result(&tool.Result{OK: true, Structured: n, Metadata: map[string]any{"f": func() {}}}, nil), "the metadata cannot be written"},
		{"not structured", result(tool.Text("x"), nil), "the result is not structured"},
		{"structured wrongly", result(&tool.Result{OK: true, Structured: json.RawMessage(`{"n":"1"}`)}, nil), "does not conform to the output schema: type of #/properties/n"},
		{"structured no JSON", result(&tool.Result{OK: true, Structured: json.RawMessage(`{`)}, nil), "the structured result is not JSON"},
		{"structured undeclared", spec(func(s *tool.Spec) { s.Output = nil }), "no output schema is declared"},
		{"panics", func(f *fake, _ *Options) {
			f.run = func(_ context.Context, call *tool.Call) (*tool.Result, error) {
				var in map[string]any
				_ = json.Unmarshal(call.Args, &in)
				return &tool.Result{OK: true, Structured: json.RawMessage(fmt.Sprintf(`{"n":%v}`, in["n"].(float64)))}, nil
			}
		}, "Malformed: with the arguments : the call panicked"},
		{"changes its arguments", func(f *fake, _ *Options) {
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				r, err := run(ctx, call)
				if len(call.Args) > 0 {
					call.Args[0] = ' '
				}
				return r, err
			}
		}, "the run changed the arguments of its call"},
		{"progress", func(f *fake, _ *Options) {
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				call.Progress(tool.Progress{Message: "a\nb"})
				return run(ctx, call)
			}
		}, `the progress "a\nb" is not one line`},
		{"effects beyond", act(tool.Act{Effects: tool.Write}), "Assess: {\"n\":1}: the act has the effects write; declared are read"},
		{"undeclared act", act(tool.Act{}), "the act has the effects undeclared"},
		{"act and its effects", act(tool.Act{Effects: tool.Read, Hosts: []string{"example.com"}}), "the act reaches hosts and has the effects read"},
		{"act and its writes", act(tool.Act{Effects: tool.Read, Writes: []string{"x"}}), "the act writes files and has the effects read"},
		{"act and its command", act(tool.Act{Effects: tool.Read, Command: "x"}), "the act runs a command and has the effects read"},
		{"summary", act(tool.Act{Effects: tool.Read, Summary: "a\nb"}), "the summary of the act is not one line"},
		{"fickle act", func(f *fake, _ *Options) {
			var mu sync.Mutex
			calls := 0
			f.assess = func(context.Context, *tool.Call) (tool.Act, error) {
				mu.Lock()
				defer mu.Unlock()
				calls++
				return tool.Act{Effects: tool.Read, Summary: fmt.Sprint(calls)}, nil
			}
		}, "Assess: {\"n\":1}: Assess says"},
		{"refusing act", func(f *fake, _ *Options) {
			f.assess = func(context.Context, *tool.Call) (tool.Act, error) { return tool.Act{}, errors.New("no") }
		}, "Assess refuses a call that succeeds"},
		{"act that panics", func(f *fake, _ *Options) {
			f.assess = func(context.Context, *tool.Call) (tool.Act, error) { panic("oops") }
		}, "Assess panicked: oops"},
		{"key that panics", func(f *fake, _ *Options) {
			f.key = func(args json.RawMessage) string { return string(args[:5]) }
		}, "Key panicked"},
		{"preflight that panics", func(f *fake, _ *Options) {
			f.flight = func(context.Context, *tool.Call) error { panic("oops") }
		}, "Preflight panicked"},
		{"resume that panics", func(f *fake, _ *Options) {
			f.resume = func(*tool.Call, tool.Cut) string { panic("oops") }
		}, "Malformed: with the arguments : Resume panicked"},
		{"advice of two lines", func(f *fake, _ *Options) {
			f.resume = func(*tool.Call, tool.Cut) string { return "a\nb" }
		}, "Resume: {\"n\":1}: the advice after a cut is no sentence"},
		{"deaf to cancellation", func(f *fake, o *Options) {
			run := f.run
			o.Patience = 50 * time.Millisecond
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				if ctx.Err() != nil {
					time.Sleep(200 * time.Millisecond)
				}
				return run(ctx, call)
			}
		}, "Cancellation: {\"n\":1}, cancelled before its start: the call had not returned after 50ms"},
		{"deaf midway", func(f *fake, o *Options) {
			o.Patience = 100 * time.Millisecond
			f.run = func(_ context.Context, call *tool.Call) (*tool.Result, error) {
				if strings.Contains(string(call.Args), "99") {
					time.Sleep(300 * time.Millisecond)
				}
				return &tool.Result{OK: true, Structured: n}, nil
			}
		}, "cancelled midway: the call had not returned"},
		{"success midway", func(f *fake, _ *Options) {
			f.run = func(context.Context, *tool.Call) (*tool.Result, error) {
				return &tool.Result{OK: true, Structured: n}, nil
			}
		}, "cancelled midway: the call succeeded"},
		{"fails beside itself", func(f *fake, _ *Options) {
			var mu sync.Mutex
			inside := 0
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				mu.Lock()
				inside++
				busy := inside > 1
				mu.Unlock()
				time.Sleep(time.Millisecond)
				defer func() { mu.Lock(); inside--; mu.Unlock() }()
				if busy {
					return nil, tool.Failf("busy")
				}
				return run(ctx, call)
			}
		}, "Concurrency: {\"n\":1}: beside itself the call ended with \"failed\""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, opts := good(), goodOptions()
			tc.spoil(f, &opts)
			said := strings.Join(complaints(t, f, opts, tc.want), "\n")
			if !strings.Contains(said, tc.want) {
				t.Errorf("nothing is said about %q, only:\n%.3000s", tc.want, said)
			}
		})
	}
}

// TestChangesAreSeen spoils tools that leave something behind.
func TestChangesAreSeen(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		spoil      func(f *fake, dir string)
	}{
		{"a reader that writes", `Examples: {"n":1}: a call that changes nothing by its declaration`, func(f *fake, dir string) {
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				_ = os.WriteFile(filepath.Join(dir, "left"), call.Args, 0o600)
				return run(ctx, call)
			}
		}},
		{"an assessment that writes", `Assess: {"n":1}: Assess changed`, func(f *fake, dir string) {
			act := f.assess
			f.assess = func(ctx context.Context, call *tool.Call) (tool.Act, error) {
				_ = os.MkdirAll(filepath.Join(dir, "made"), 0o700)
				return act(ctx, call)
			}
		}},
		{"a refusal that came too late", "a call that was refused changed", func(f *fake, dir string) {
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				r, err := run(ctx, call)
				var e *tool.Error
				if errors.As(err, &e) && e.Code == tool.CodeInvalidInput {
					_ = os.Remove(filepath.Join(dir, "there"))
				}
				return r, err
			}
		}},
		{"a changed mode", "a call that changes nothing", func(f *fake, dir string) {
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				_ = os.Chmod(filepath.Join(dir, "there"), 0o644)
				return run(ctx, call)
			}
		}},
		{"a turned link", "a call that changes nothing", func(f *fake, dir string) {
			run := f.run
			f.run = func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				_ = os.Remove(filepath.Join(dir, "link"))
				_ = os.Symlink("elsewhere", filepath.Join(dir, "link"))
				return run(ctx, call)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, opts := good(), goodOptions()
			opts.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(opts.Dir, "there"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("there", filepath.Join(opts.Dir, "link")); err != nil {
				t.Fatal(err)
			}
			tc.spoil(f, opts.Dir)
			said := strings.Join(complaints(t, f, opts, tc.want), "\n")
			if !strings.Contains(said, tc.want) {
				t.Errorf("nothing is said about %q, only:\n%.3000s", tc.want, said)
			}
		})
	}
}

func TestComplaintsOfAGoodTool(t *testing.T) {
	opts := goodOptions()
	opts.Dir = t.TempDir()
	if said := complaints(t, good(), opts, ""); said != nil {
		t.Errorf("a good tool earns:\n%s", strings.Join(said, "\n"))
	}
}
