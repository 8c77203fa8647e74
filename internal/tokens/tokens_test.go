package tokens

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// counted are the samples of testdata and what the o200k vocabulary makes of
// them, counted with gpt-tokenizer. Dense samples are nothing that a
// vocabulary has words for.
var counted = []struct {
	name  string
	o200k int
	dense bool
}{
	{"chinese.txt", 60, false},
	{"code.txt", 579, false},
	{"german.txt", 50, false},
	{"log.txt", 144, false},
	{"prose.txt", 107, false},
	{"russian.txt", 42, false},
	{"schema.txt", 125, false},
	{"base64.txt", 562, true},
	{"hex.txt", 1282, true},
}

func TestEstimate(t *testing.T) {
	for _, c := range counted {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.name))
			if err != nil {
				t.Fatal(err)
			}
			limit := 0.20
			if c.dense {
				limit = 0.30
			}
			got := Estimate(string(text))
			off := float64(got)/float64(c.o200k) - 1
			if math.Abs(off) > limit {
				t.Errorf("estimated %d, counted %d: off by %+.0f %%", got, c.o200k, off*100)
			}
			t.Logf("estimated %d, counted %d: off by %+.0f %%", got, c.o200k, off*100)
		})
	}
	if got := Estimate(""); got != 0 {
		t.Errorf("nothing costs %d", got)
	}
}

func ExampleEstimate() {
	fmt.Println(Estimate("Read a text file of the workspace."))
	// Output: 8
}

func BenchmarkEstimate(b *testing.B) {
	text, err := os.ReadFile("testdata/code.txt")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Estimate(string(text))
	}
}
