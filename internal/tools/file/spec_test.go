package file

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/handrail-tools/handrail/internal/args"
	"github.com/handrail-tools/handrail/tool"
	"github.com/handrail-tools/handrail/tool/tooltest"
)

// TestSpellings: the names that models bring from other systems reach the
// tools (L4), with the effect of the canonical ones.
func TestSpellings(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\nc\n"})
	for _, tt := range []struct {
		tool   tool.Tool
		given  string
		answer string
	}{
		{ReadFile(), `{"filePath":"f","offset":2,"limit":1}`, "2│b\n"},
		{ReadFile(), `{"file_path":"f","startLine":"3"}`, "3│c\n"},
		{ReadFile(), `{"path":"f","start_line":2,"end_line":null}`, "2│b\n3│c\n"},
		{EditFile(), `{"filePath":"f","oldString":"a","newString":"A","replaceAll":"true"}`, "Edited f"},
		{EditFile(), `{"file_path":"f","old_str":"A","new_str":"a"}`, "Edited f"},
		{EditFile(), `{"filePath":"f","edits":[{"oldString":"b","newString":"B"}]}`, "Edited f"},
		{WriteFile(), `{"filePath":"g","content":"x","createOnly":true}`, "Created g"},
		{ApplyPatch(), `{"input":"*** Begin Patch\n*** Delete File: g\n*** End Patch"}`, "Applied the patch to 1 file:\nD g"},
		{ApplyPatch(), `{"diff":"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n"}`, "Applied the patch to 1 file:\nM f"},
		{DiffEdit(), `{"filePath":"f","patch":"@@ -1 +1 @@\n-A\n+a\n"}`, "Applied the patch to 1 file:\nM f"},
	} {
		spec := tt.tool.Spec()
		schema, err := args.Compile(spec.Name, spec.Input, spec.ArgAliases)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := schema.Decode(json.RawMessage(tt.given))
		if err != nil {
			t.Errorf("%s %s: %v", spec.Name, tt.given, err)
			continue
		}
		if r := b.call(tt.tool, decoded.Args); !r.OK || !strings.HasPrefix(r.Text+"\n", tt.answer) {
			t.Errorf("%s %s: %s", spec.Name, tt.given, r.Text)
		}
	}
}

func TestSpecs(t *testing.T) {
	for _, tl := range []tool.Tool{ReadFile(), WriteFile(), EditFile()} {
		spec := tl.Spec()
		if check, ok := tl.(tool.Checker); !ok || check.Check() != nil {
			t.Errorf("%s: %v", spec.Name, check.Check())
		}
		if regexp.MustCompile(`\{[a-z_]+\}`).MatchString(spec.Description) {
			t.Errorf("%s: a placeholder is left in %q", spec.Name, spec.Description)
		}
		if !strings.Contains(string(spec.Input), `"additionalProperties":false`) {
			t.Errorf("%s takes anything: %s", spec.Name, spec.Input)
		}
		act, err := tl.(tool.Assesser).Assess(t.Context(), &tool.Call{Args: json.RawMessage(`{"path":"x/y","content":"","old_string":"a","new_string":"b"}`)})
		if err != nil || len(act.Reads)+len(act.Writes)+len(act.Trees) == 0 || !act.Effects.Within(spec.Effects) {
			t.Errorf("%s: act %+v, %v", spec.Name, act, err)
		}
		for _, paths := range [][]string{act.Reads, act.Writes, act.Trees} {
			for _, p := range paths {
				if p != "x/y" {
					t.Errorf("%s touches %q", spec.Name, p)
				}
			}
		}
		if act.Effects.Has(tool.Write) != (len(act.Writes) == 1) {
			t.Errorf("%s: act %+v", spec.Name, act)
		}
	}
	if text := ReadFile().Spec().Description; !strings.Contains(text, "2000 lines or 48 KiB") {
		t.Errorf("the limits are not in %q", text)
	}
}

// TestContract holds the tools of this part to the promises that every tool
// makes.
func TestContract(t *testing.T) {
	for _, tt := range []struct {
		tool     tool.Tool
		examples []tooltest.Example
	}{
		{ReadFile(), []tooltest.Example{
			{Args: `{"path":"f"}`},
			{Args: `{"path":"f","start_line":2,"limit":1}`},
			{Args: `{"path":"missing"}`, Code: tool.CodeFailed},
			{Args: `{"path":"../f"}`, Code: tool.CodeDenied},
			{Args: `{"path":"f","limit":0}`, Code: tool.CodeInvalidInput},
			{Args: `{"paths":["f","missing"]}`},
			{Args: `{"paths":["f","../f"]}`},
			{Args: `{"path":"f","pages":"1"}`, Code: tool.CodeInvalidInput},
			{Args: `{"path":"n.ipynb","cell":"intro"}`},
			{Args: `{}`, Code: tool.CodeInvalidInput},
		}},
		{NotebookEdit(), []tooltest.Example{
			{Args: `{"path":"n.ipynb","cell":"0","mode":"replace","source":"x"}`},
			{Args: `{"path":"n.ipynb","cell":"0","mode":"delete"}`},
			{Args: `{"path":"n.ipynb","mode":"insert","cell_type":"raw","source":"x"}`},
			{Args: `{"path":"n.ipynb","cell":"7","mode":"delete"}`, Code: tool.CodeFailed},
			{Args: `{"path":"f","cell":"0","mode":"delete"}`, Code: tool.CodeFailed},
			{Args: `{"path":"../n.ipynb","cell":"0","mode":"delete"}`, Code: tool.CodeDenied},
			{Args: `{"path":"n.ipynb","mode":"replace"}`, Code: tool.CodeInvalidInput},
		}},
		{WriteFile(), []tooltest.Example{
			{Args: `{"path":"g/h","content":"x"}`},
			{Args: `{"path":"f","content":"x","create_only":true}`, Code: tool.CodeFailed},
			{Args: `{"path":".git/config","content":"x"}`, Code: tool.CodeDenied},
		}},
		{EditFile(), []tooltest.Example{
			{Args: `{"path":"f","old_string":"b","new_string":"c"}`},
			{Args: `{"path":"f","edits":[{"old_string":"b","new_string":"c"}]}`},
			{Args: `{"path":"f","old_string":"zzz","new_string":"c"}`, Code: tool.CodeFailed},
			{Args: `{"path":"f","old_string":"b"}`, Code: tool.CodeInvalidInput},
		}},
		{ApplyPatch(), []tooltest.Example{
			{Args: `{"patch":"*** Begin Patch\n*** Update File: f\n@@\n-b\n+c\n*** Add File: g/h\n+x\n*** End Patch"}`},
			{Args: `{"patch":"*** Begin Patch\n*** Update File: f\n@@\n-zzz\n+c\n*** End Patch"}`, Code: tool.CodeFailed},
			{Args: `{"patch":"*** Begin Patch\n*** Add File: ../g\n+x\n*** End Patch"}`, Code: tool.CodeDenied},
			{Args: `{"patch":"no patch"}`, Code: tool.CodeInvalidInput},
		}},
		{DiffEdit(), []tooltest.Example{
			{Args: `{"path":"f","diff":"@@\n-b\n+c\n"}`},
			{Args: `{"diff":"--- a/f\n+++ b/f\n@@\n-a\n+c\n"}`},
			{Args: `{"path":"f","diff":"@@\n-zzz\n+c\n"}`, Code: tool.CodeFailed},
			{Args: `{"diff":"@@\n-b\n+c\n"}`, Code: tool.CodeInvalidInput},
		}},
	} {
		t.Run(tt.tool.Spec().Name, func(t *testing.T) {
			b := newBench(t, nil)
			for i := range tt.examples {
				tt.examples[i].Setup = func(testing.TB) {
					b.write("f", "a\nb\n")
					b.write("n.ipynb", sampleNotebook(1))
				}
			}
			tooltest.Run(t, tt.tool, tooltest.Options{
				Examples: tt.examples, Dir: b.dir,
				Context: func(ctx context.Context) context.Context { return b.around(ctx) },
			})
		})
	}
}
