package args_test

import (
	"encoding/json"
	"strings"
	"testing"
)

const sixFields = `{"type":"object","properties":{
"path":{"type":"string","minLength":1},"offset":{"type":"integer","minimum":0},"limit":{"type":"integer","minimum":1,"maximum":2000},
"mode":{"type":"string","enum":["text","hex","auto"]},"tags":{"type":"array","items":{"type":"string"}},
"opts":{"type":"object","properties":{"follow":{"type":"boolean"}},"additionalProperties":false}},
"required":["path","mode"],"additionalProperties":false}`

const sixArgs = `{"path":"/a/b","offset":0,"limit":10,"mode":"text","tags":["x","y"],"opts":{"follow":true}}`

func BenchmarkDecodeValid(b *testing.B) {
	s := compile(b, sixFields, map[string][]string{"path": {"file_path"}})
	raw := json.RawMessage(sixArgs)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLibraryValid is the same work with a library of the same claims,
// for comparison.
func BenchmarkLibraryValid(b *testing.B) {
	valid := published(b, sixFields)
	raw := []byte(sixArgs)
	b.ReportAllocs()
	for b.Loop() {
		if err := valid(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeRepaired(b *testing.B) {
	s := compile(b, sixFields, map[string][]string{"path": {"file_path"}})
	raw := json.RawMessage(`{"filePath":"/a/b","offset":"0","limit":10.0,"mode":"Text","tags":"x","opts":"{\"follow\":true}"}`)
	b.ReportAllocs()
	for b.Loop() {
		if d, err := s.Decode(raw); err != nil || len(d.Repairs) != 6 {
			b.Fatal(d.Repairs, err)
		}
	}
}

func BenchmarkReportTenProblems(b *testing.B) {
	s := compile(b, sixFields, nil)
	raw := json.RawMessage(`{"offset":-1,"limit":"10px","mode":"txt","tags":["x",3,4],"opts":{"folow":true,"b":1},"extra":1,"pat":"x"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decode(raw); err == nil || !strings.Contains(err.Error(), "(10 problems)") {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeOneMegabyte(b *testing.B) {
	s := compile(b, sixFields, nil)
	raw := json.RawMessage(`{"mode":"text","path":"` + strings.Repeat(`a line of text\n`, 1<<16-64) + `"}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compile(b, sixFields, nil)
	}
}
