package notebook

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// jupyter is a notebook as Jupyter writes it.
const jupyter = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "\n",
    "é <b>"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "calc",
   "metadata": {"scale": 1.50, "tags": []},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "one\n",
      "two\n"
     ]
    },
    {
     "data": {
      "image/png": "aGVsbG8=",
      "text/html": "<b>x</b>",
      "text/plain": "<Figure>"
     },
     "metadata": {},
     "output_type": "display_data"
    },
    {
     "ename": "ValueError",
     "evalue": "bad",
     "output_type": "error",
     "traceback": [
      "Traceback",
      "ValueError: bad"
     ]
    }
   ],
   "source": [
    "x = 1\n",
    "x"
   ]
  }
 ],
 "metadata": {
  "kernelspec": {
   "language": "python"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func parse(t *testing.T, text string) *Notebook {
	t.Helper()
	nb, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return nb
}

func TestParse(t *testing.T) {
	nb := parse(t, jupyter)
	if nb.Language != "python" || len(nb.Cells) != 2 {
		t.Fatalf("%+v", nb)
	}
	if c := nb.Cells[0]; c.ID != "intro" || c.Type != "markdown" || c.Source != "# Title\n\né <b>" {
		t.Errorf("%+v", c)
	}
	c := nb.Cells[1]
	if c.Count != "7" || c.Source != "x = 1\nx" || len(c.Outputs) != 3 {
		t.Fatalf("%+v", c)
	}
	if c.Outputs[0].Text != "one\ntwo\n" || c.Outputs[2].Text != "Traceback\nValueError: bad" {
		t.Errorf("%+v", c.Outputs)
	}
	if o := c.Outputs[1]; o.Text != "<Figure>" || len(o.Images) != 1 || o.Images[0].Base64 != "aGVsbG8=" || o.Other[0] != "text/html" {
		t.Errorf("%+v", o)
	}
	for _, bad := range []string{
		"", "{}", "[]", `{"nbformat":3,"worksheets":[]}`, `{"nbformat":4}`, `{"nbformat":4,"cells":{}}`,
		`{"nbformat":4,"cells":[1]}`, `{"nbformat":4,"cells":[{"cell_type":"code"}]}`, `{"nbformat":4,"cells":[{"source":""}]}`,
	} {
		if _, err := Parse([]byte(bad)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestIndex(t *testing.T) {
	nb := parse(t, jupyter)
	for cell, want := range map[string]int{"intro": 0, "calc": 1, "0": 0, "1": 1} {
		if got, err := nb.Index(cell); err != nil || got != want {
			t.Errorf("%s: %d, %v", cell, got, err)
		}
	}
	for _, cell := range []string{"", "2", "-1", "clac"} {
		if _, err := nb.Index(cell); err == nil || !strings.Contains(err.Error(), "the cells are 0 to 1, by id 0=intro 1=calc") {
			t.Errorf("%s: %v", cell, err)
		}
	}
}

// TestEditKeepsTheRest: an edit changes what it means and not one byte more.
func TestEditKeepsTheRest(t *testing.T) {
	windows := strings.ReplaceAll(jupyter, "\n", "\r\n")
	oneLine := `{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[{"source":"a","metadata":{"n":1e2},"cell_type":"markdown"},{"cell_type":"code","source":"b","outputs":[{"output_type":"stream","text":"x"}],"execution_count":3,"metadata":{}}]}`
	for _, tt := range []struct {
		name, in string
		edit     func(nb *Notebook) []byte
		old, new string
	}{
		{"a replaced text", jupyter, func(nb *Notebook) []byte { return nb.Replace(0, "a\nb\n", "") },
			"    \"# Title\\n\",\n    \"\\n\",\n    \"é <b>\"\n", "    \"a\\n\",\n    \"b\\n\"\n"},
		{"an emptied text", jupyter, func(nb *Notebook) []byte { return nb.Replace(0, "", "") },
			"[\n    \"# Title\\n\",\n    \"\\n\",\n    \"é <b>\"\n   ]", "[]"},
		{"deleted first", jupyter, func(nb *Notebook) []byte { return nb.Delete(0) }, jupyter[strings.Index(jupyter, "  {\n"):strings.Index(jupyter, "  {\n   \"cell_type\": \"code\"")], ""},
		{"Windows line ends", windows, func(nb *Notebook) []byte { return nb.Replace(0, "a\nb", "") },
			"    \"# Title\\n\",\r\n    \"\\n\",\r\n    \"é <b>\"\r\n", "    \"a\\n\",\r\n    \"b\"\r\n"},
		{"inserted", jupyter, func(nb *Notebook) []byte { data, _ := nb.Insert(1, "y\n", "code"); return data },
			"  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 7",
			"  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"cell-3\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"y\\n\"\n   ]\n  },\n" +
				"  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 7"},
		{"one line", oneLine, func(nb *Notebook) []byte { return nb.Replace(1, "c\nd", "") },
			`"source":"b","outputs":[{"output_type":"stream","text":"x"}],"execution_count":3`, `"source":"c\nd","outputs":[],"execution_count":null`},
		{"another type", oneLine, func(nb *Notebook) []byte { return nb.Replace(1, "c", "markdown") },
			`{"cell_type":"code","source":"b","outputs":[{"output_type":"stream","text":"x"}],"execution_count":3,"metadata":{}}`, `{"cell_type":"markdown","source":"c","metadata":{}}`},
		{"made code", oneLine, func(nb *Notebook) []byte { return nb.Replace(0, "c", "code") },
			`{"source":"a","metadata":{"n":1e2},"cell_type":"markdown"}`, `{"source":"c","metadata":{"n":1e2},"cell_type":"code","execution_count":null,"outputs":[]}`},
		{"inserted last without an id", oneLine, func(nb *Notebook) []byte { data, _ := nb.Insert(2, "c", "raw"); return data },
			`"metadata":{}}]}`, `"metadata":{}},{"cell_type":"raw","metadata":{},"source":"c"}]}`},
		{"deleted last", oneLine, func(nb *Notebook) []byte { return nb.Delete(1) },
			`,{"cell_type":"code","source":"b","outputs":[{"output_type":"stream","text":"x"}],"execution_count":3,"metadata":{}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(tt.edit(parse(t, tt.in)))
			if want := strings.Replace(tt.in, tt.old, tt.new, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			parse(t, got)
		})
	}
}

// TestCodeLosesItsRun: what a run left behind is not from the new source.
func TestCodeLosesItsRun(t *testing.T) {
	nb := parse(t, string(parse(t, jupyter).Replace(1, "x = 2", "")))
	if c := nb.Cells[1]; c.Count != "" || len(c.Outputs) != 0 || c.Source != "x = 2" || c.ID != "calc" {
		t.Errorf("%+v", c)
	}
}

// TestEscapedFile: a file that is ASCII because everything else is escaped
// stays so.
func TestEscapedFile(t *testing.T) {
	in := `{"cells": [{"cell_type": "raw", "metadata": {}, "source": "\u00e9"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}`
	if got := string(parse(t, in).Replace(0, "é😀", "")); got != strings.Replace(in, `\u00e9`, `\u00e9\ud83d\ude00`, 1) {
		t.Errorf("got %s", got)
	}
}

// TestEmptied: the last cell can go, and a first one come.
func TestEmptied(t *testing.T) {
	nb := parse(t, jupyter)
	nb = parse(t, string(nb.Delete(1)))
	nb = parse(t, string(nb.Delete(0)))
	if len(nb.Cells) != 0 {
		t.Fatalf("%d cells", len(nb.Cells))
	}
	data, id := nb.Insert(0, "x", "code")
	if nb = parse(t, string(data)); len(nb.Cells) != 1 || nb.Cells[0].ID != id || id == "" {
		t.Errorf("%s", data)
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add(jupyter, "a\nb", uint8(0))
	f.Add(`{"cells":[{"outputs":[],"execution_count":1,"cell_type":"code","source":""}],"nbformat":4}`, "é", uint8(1))
	f.Add(`{"nbformat":4,"cells":[ ]}`, "", uint8(2))
	f.Add("{\r\n\t\"nbformat\" :4,\"cells\":[{\"attachments\":{},\"cell_type\":\"raw\",\"source\":[\"\\u00e9\"]}]}", "x", uint8(3))
	f.Fuzz(func(t *testing.T, text, source string, op uint8) {
		nb, err := Parse([]byte(text))
		if err != nil {
			return
		}
		kinds := []string{"code", "markdown", "raw"}
		kind := kinds[int(op>>2)%3]
		at := int(op>>4) % (len(nb.Cells) + 1)
		var out []byte
		want := len(nb.Cells)
		switch {
		case op%3 == 0 || len(nb.Cells) == 0:
			out, _ = nb.Insert(at, source, kind)
			want++
		case op%3 == 1:
			at %= len(nb.Cells)
			out = nb.Replace(at, source, kind)
		default:
			at %= len(nb.Cells)
			out = nb.Delete(at)
			want--
		}
		if !json.Valid(out) {
			t.Fatalf("no JSON: %q", out)
		}
		now, err := Parse(out)
		if err != nil {
			t.Fatalf("%v: %q", err, out)
		}
		if len(now.Cells) != want {
			t.Fatalf("%d cells, want %d", len(now.Cells), want)
		}
		if op%3 != 2 && len(now.Cells) > 0 {
			if c := now.Cells[at]; c.Source != strings.ToValidUTF8(source, "\ufffd") || c.Type != kind {
				t.Fatalf("%q as %s, want %q as %s", c.Source, c.Type, source, kind)
			}
		}
	})
}
