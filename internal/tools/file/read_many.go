package file

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxPaths is how many files one call reads: with twenty, each still has
	// some fifty lines of the answer.
	maxPaths = 20
	// leastShare is what a file has of the answer at least, in bytes.
	leastShare = 1 << 10
	// noteShare is what is kept for the header and the footer of each file.
	noteShare = 400
)

// readMany shows several files, each under its name. A file that cannot be
// read says so and costs the others nothing, unless none can be read.
func readMany(ctx context.Context, in readArgs) (*tool.Result, error) {
	names := in.names()
	var left []string
	if len(names) > maxPaths {
		names, left = names[:maxPaths], names[maxPaths:]
	}
	shares := fairShares(ctx, names, maxReadBytes-noteShare*len(names)-len(strings.Join(left, "    ")))
	r := &tool.Result{OK: true}
	var b strings.Builder
	failed := 0
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "=== %s ===\n", tool.Clip(escapeName(name)))
		one := in
		one.Path, one.Paths = name, nil
		s, err := readOne(ctx, one, window{first: 1, limit: int64(shares[i]), room: shares[i], whole: true})
		if err != nil {
			failed++
			b.WriteString("[not read: " + tool.ClipText(tool.FromError(err).Text, shares[i]) + "]\n")
			continue
		}
		b.WriteString(strings.TrimSuffix(s.text, "\n") + "\n")
		r.Media = append(r.Media, s.media...)
	}
	if failed == len(names) {
		return nil, tool.Failf("none of the %d files could be read:\n%s", len(names), b.String())
	}
	if len(left) > 0 {
		b.WriteString(footer([]string{leftNames(left)}))
	}
	r.Text = strings.TrimSuffix(b.String(), "\n")
	return r, nil
}

// leftNames names the call that reads what one call does not.
func leftNames(left []string) string {
	call, err := json.Marshal(map[string][]string{"paths": left})
	if err != nil || len(call) > maxReadBytes/4 {
		call = []byte(fmt.Sprintf("those from %q on", tool.Clip(left[0])))
	}
	return fmt.Sprintf("one call reads %d files; %d more: %s", maxPaths, len(left), call)
}

// fairShares divides the room of an answer among files: none gets more than
// it needs while another lacks some. What a file needs is guessed from its
// size; of one whose size is not known it is all.
func fairShares(ctx context.Context, names []string, room int) []int {
	w := workspace.From(ctx)
	shares, order := make([]int, len(names)), make([]int, len(names))
	for i, name := range names {
		order[i], shares[i] = i, maxReadBytes
		if info, err := w.Stat(name); err == nil && info.Size() < maxReadBytes {
			// Line numbers take room too, the more so the shorter the lines.
			shares[i] = int(info.Size())*3/2 + 64
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[a], shares[b]) })
	for n, i := range order {
		shares[i] = max(min(shares[i], room/(len(order)-n)), leastShare)
		room -= shares[i]
	}
	return shares
}
