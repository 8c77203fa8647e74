package history

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/handrail-tools/handrail/internal/workspace"
)

// FuzzSegment reads foreign bytes as a segment. They crash nothing, every
// content that is read has the sum by which it was asked for, and no change
// is found that some frame with the right checksum does not hold.
func FuzzSegment(f *testing.F) {
	b := newBench(f, Options{}, map[string]string{"a": "1\n"})
	b.write("a", "2\n")
	b.apply(workspace.Step{Op: workspace.OpMove, Name: "a", To: "d/b"})
	whole, err := os.ReadFile(b.segments()[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte{})
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 4
	f.Add(flipped)
	f.Add(appendFrame(appendFrame(nil, frameRoot, []byte(`{"root":"/x"}`)), frameBegin, []byte(`{"id":"c_aaaaaaaaaaaa","entries":[]}`)))
	var of sum
	f.Add(appendFrame(nil, frameObject, append(appendObjectHead(nil, of, formDelta, 9), make([]byte, 40)...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newIndex("x")
		if err := x.scan(bytes.NewReader(data), int64(len(data))); err != nil {
			t.Fatal(err)
		}
		if x.end > int64(len(data)) || x.damaged != (x.end < int64(len(data))) {
			t.Fatalf("read up to %d of %d, damaged: %v", x.end, len(data), x.damaged)
		}
		for _, r := range x.records {
			body := data[r.pos:]
			n := json.NewDecoder(bytes.NewReader(body))
			var again record
			if n.Decode(&again) != nil || again.ID != r.ID || len(again.Entries) != len(r.Entries) {
				t.Fatalf("the change %s is not what is written", r.ID)
			}
		}
		for s := range x.objects {
			got, err := x.content(bytes.NewReader(data), s, 0)
			if err == nil && workspace.SumOf(got) != s {
				t.Fatalf("%x is the content of %x", got, s)
			}
		}
	})
}
