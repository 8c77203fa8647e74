package history

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/handrail-tools/handrail/internal/textfile"
	"github.com/handrail-tools/handrail/internal/workspace"
	"github.com/handrail-tools/handrail/tool"
)

const (
	// maxDiffed is the largest content that is compared line by line, in
	// bytes.
	maxDiffed = 8 << 20
	// maxDiff is how long a diff may become, in bytes. It is more than any
	// answer shows; the rest stays retrievable.
	maxDiff = 4 << 20
	// devNull stands in a diff for a file that is not there.
	devNull = "/dev/null"
)

// A side is what there is at a path on one side of a diff.
type side struct {
	there bool
	mode  fs.FileMode
	size  int64
	data  []byte // of a link, its target; nil for a folder
	lost  bool   // there is something whose content is not known
}

// A Range says what a diff compares.
type Range struct {
	// ID asks for what that change did.
	ID string
	// From and To ask for what came after the change From up to the change
	// To, or up to the files as they are where To is empty. With neither it
	// is all that the asker's own sessions did, up to now.
	From, To string
	// Path, unless empty, is the only file, or folder, that is shown.
	Path string
}

// A Diff is an answer to a [Range].
type Diff struct {
	// Text is a unified diff as git writes it, and as git apply takes it as
	// long as it has text files only.
	Text string
	// Files are the paths in it. Cut are those that were left out because
	// it would have become too long, Withheld those that may not be read.
	Files, Cut, Withheld []string
}

// Paths returns the files that the diff of a range would show.
func (t *Timeline) Paths(ctx context.Context, r Range) ([]string, error) {
	pairs, _, err := t.pairs(ctx, r)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range pairs {
		out = append(out, p.files()...)
	}
	return out, nil
}

// A pair is a file and its two sides, not yet read.
type pair struct {
	file File
	now  bool // the second side is the file as it is
}

func (p *pair) files() []string {
	if p.file.From != "" {
		return []string{p.file.Path, p.file.From}
	}
	return []string{p.file.Path}
}

// Diff compares two states of files. What the rules of the workspace keep from
// being read is left out and named, and so is what closed reports; nil closes
// nothing.
func (t *Timeline) Diff(ctx context.Context, w *workspace.Workspace, r Range, closed func(path string) bool) (*Diff, error) {
	pairs, group, err := t.pairs(ctx, r)
	if err != nil {
		return nil, err
	}
	d := &Diff{}
	var b strings.Builder
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(p.files(), w.Unreadable) || closed != nil && slices.ContainsFunc(p.files(), closed) {
			d.Withheld = append(d.Withheld, p.file.Path)
			continue
		}
		if b.Len() > maxDiff {
			d.Cut = append(d.Cut, p.file.Path)
			continue
		}
		before := t.sideBefore(group, &p.file)
		if p.file.From != "" && p.file.Before != nil { // it took the place of another
			b.WriteString(diffFile("", p.file.From, before, side{}))
			p.file.From, before = "", t.sideOf(p.file.first, p.file.Before)
		}
		after := t.sideOf(p.file.last, p.file.After)
		if p.now {
			n, err := present(ctx, w, p.file.Path)
			if err != nil {
				return nil, err
			}
			after = n.side
		}
		if text := diffFile(p.file.From, p.file.Path, before, after); text != "" {
			d.Files = append(d.Files, p.file.Path)
			b.WriteString(text)
		}
	}
	d.Text = b.String()
	return d, nil
}

// pairs finds what a range compares.
func (t *Timeline) pairs(ctx context.Context, r Range) ([]pair, *Change, error) {
	if r.ID != "" {
		c, err := t.Get(ctx, r.ID)
		if err != nil {
			return nil, nil, err
		}
		return pairsOf(c.Files, r.Path, false), c, nil
	}
	all, err := t.between(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	// The changes as one: the oldest record first.
	whole := &group{}
	for _, c := range slices.Backward(all) {
		whole.records = append(whole.records, c.group.applied()...)
	}
	slices.SortStableFunc(whole.records, func(a, b *record) int { return int(min(max(a.Time-b.Time, -1), 1)) })
	files, _ := t.net(whole.records)
	return pairsOf(files, r.Path, r.To == ""), &Change{group: whole}, nil
}

// between returns the changes of a range, the newest first.
func (t *Timeline) between(ctx context.Context, r Range) ([]*Change, error) {
	if r.From == "" && r.To == "" {
		all, _, err := t.load(ctx, nil)
		return slices.DeleteFunc(all, func(c *Change) bool { return !c.Own }), err
	}
	if r.From == "" {
		return nil, tool.Invalidf("to: it needs from, the change that the comparison begins after; to see one change alone, give its id as id")
	}
	all, err := t.upTo(ctx, r.From)
	if err != nil {
		return nil, err
	}
	all = all[:len(all)-1]
	if r.To == "" || r.To == r.From {
		if r.To != "" {
			all = nil
		}
		return all, nil
	}
	i := slices.IndexFunc(all, func(c *Change) bool { return c.ID == r.To })
	if i < 0 {
		if _, err := t.Get(ctx, r.To); err != nil {
			return nil, err
		}
		return nil, tool.Invalidf("%s is older than %s: exchange from and to", r.To, r.From)
	}
	return all[i:], nil
}

func pairsOf(files []File, path string, now bool) []pair {
	f := Filter{Path: path}
	var out []pair
	for _, file := range files {
		if f.matches(&Change{Files: []File{file}}) {
			out = append(out, pair{file, now})
		}
	}
	return out
}

// sideBefore is what there was before a change; of a file that was moved,
// what there was at its old place.
func (t *Timeline) sideBefore(c *Change, f *File) side {
	if f.From == "" {
		return t.sideOf(f.first, f.Before)
	}
	r, k := c.movedFrom(f, t.stored(f.From))
	return t.sideOf(r, stateOf(k))
}

func (t *Timeline) sideOf(r *record, s *FileState) side {
	if s == nil {
		return side{}
	}
	out := side{there: true, mode: s.Mode, size: s.Size}
	if s.Mode.IsDir() {
		return out
	}
	data, err := t.trail.content(r, s.kept)
	out.data, out.lost = data, err != nil
	return out
}

// Content returns what a file held before or after a change. It fails with
// [ErrNotKept] where that is not known.
func (t *Timeline) Content(ctx context.Context, id, path string, before bool) ([]byte, error) {
	c, err := t.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == path })
	if i < 0 {
		return nil, tool.Failf("the change %s is not about %s", id, tool.Clip(path))
	}
	f := &c.Files[i]
	s := t.sideOf(f.last, f.After)
	switch {
	case before && f.Before != nil:
		s = t.sideOf(f.first, f.Before)
	case before:
		s = t.sideBefore(c, f)
	}
	if s.lost {
		return nil, ErrNotKept
	}
	return s.data, nil
}

// diffFile is the diff of one file, "" where nothing differs.
func diffFile(from, path string, before, after side) string {
	if from == "" {
		from = path
	}
	var b strings.Builder
	a, z := quoteName("a/"+from), quoteName("b/"+path)
	switch {
	case !before.there && !after.there:
		return ""
	case before.mode.IsDir() || after.mode.IsDir():
		return diffDir(from, path, before, after)
	case !before.there:
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(after.mode))
		a = devNull
	case !after.there:
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(before.mode))
		z = devNull
	default:
		if old, now := gitMode(before.mode), gitMode(after.mode); old != now {
			fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", old, now)
		}
		if from != path {
			fmt.Fprintf(&b, "rename from %s\nrename to %s\n", quoteName(from), quoteName(path))
		}
	}
	body := diffContent(a, z, before, after)
	if b.Len() == 0 && body == "" {
		return ""
	}
	return "diff --git " + quoteName("a/"+from) + " " + quoteName("b/"+path) + "\n" + b.String() + body
}

// diffDir says in words what git has no form for.
func diffDir(from, path string, before, after side) string {
	switch {
	case !before.there:
		return "Folder " + quoteName(path) + " made\n"
	case !after.there:
		return "Folder " + quoteName(path) + " removed\n"
	case from != path:
		return "Folder " + quoteName(from) + " moved to " + quoteName(path) + "\n"
	case before.mode.IsDir() != after.mode.IsDir():
		return quoteName(path) + " became a folder, or is one no longer\n"
	default:
		return ""
	}
}

func diffContent(a, z string, before, after side) string {
	switch {
	case before.lost || after.lost:
		if before.there && after.there && before.size == after.size && before.lost != after.lost {
			return "" // nothing is known of one side, and the size is the same
		}
		return fmt.Sprintf("The content is not kept (%d bytes, then %d)\n", before.size, after.size)
	case bytes.Equal(before.data, after.data):
		return ""
	case len(before.data) > maxDiffed || len(after.data) > maxDiffed:
		return fmt.Sprintf("Files %s and %s differ; too large to compare by line (%d bytes, then %d)\n", a, z, len(before.data), len(after.data))
	}
	old, ok1 := shown(before.data)
	now, ok2 := shown(after.data)
	if !ok1 || !ok2 {
		return fmt.Sprintf("Binary files %s and %s differ (%d bytes, then %d)\n", a, z, len(before.data), len(after.data))
	}
	return udiff.Unified(a, z, old, now)
}

// shown returns a content as text in UTF-8.
func shown(data []byte) (string, bool) {
	t, err := textfile.Decode(data)
	if err != nil {
		return "", false
	}
	return t.Content, true
}

func gitMode(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "120000"
	case m&0o111 != 0:
		return "100755"
	default:
		return "100644"
	}
}

// quoteName writes a name as git does: in quotes where it has a character
// that would break the line.
func quoteName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
