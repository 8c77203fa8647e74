package walk

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/handrail-tools/handrail/internal/search/ignore"
)

// worker is one goroutine of a walk.
type worker struct {
	*walker
	number  int
	left    Left
	listing *listing
	entry   Entry
	subs    []job
}

func (w *worker) run() {
	w.listing = listings.Get().(*listing)
	defer listings.Put(w.listing)
	for {
		j, ok := w.pop()
		if !ok {
			return
		}
		switch {
		case w.halted.Load():
		case j.files != nil:
			w.visitBatch(j)
		default:
			w.enter(j)
		}
		j.parent.release()
	}
}

func (w *worker) visitBatch(j job) {
	w.entry.folder = j.parent.folder
	w.entry.path = append(w.entry.path[:0], j.dir...)
	for _, name := range j.files {
		w.visitFile(len(j.dir), name)
	}
}

// visitFile visits the file with that name in the entry's folder, whose path
// is dir bytes long.
func (w *worker) visitFile(dir int, name []byte) {
	w.entry.at(dir, name)
	if w.halted.Load() || w.config.Beyond != nil && w.config.Beyond(w.entry.path) {
		return
	}
	w.visit(w.number, &w.entry)
}

// enter reads a folder, visits its files and hands over its sub-folders.
func (w *worker) enter(j job) {
	w.entry.path = append(w.entry.path[:0], j.dir...)
	if w.config.Beyond != nil && !j.top && w.config.Beyond(w.entry.path) {
		return
	}
	f, err := w.openFolder(j)
	if err != nil {
		w.unreadable(j.dir)
		return
	}
	h := &handle{folder: f, walker: w.walker}
	h.users.Store(1)
	w.open.Add(1)
	defer h.release()
	w.entry.folder = f
	for first := true; ; first = false {
		err := f.list(w.listing)
		if err != nil && err != io.EOF {
			w.unreadable(j.dir)
			return
		}
		if first && !w.config.NoIgnore {
			j.level = w.rules(f, &j, err == io.EOF)
		}
		w.handle(&j, h)
		if err == io.EOF || w.halted.Load() {
			return
		}
	}
}

// openFolder opens the folder of a job: in the folder above where that is
// open, else name by name from the top.
func (w *worker) openFolder(j job) (folder, error) {
	if j.top {
		// The position of the tree's own descriptor is not moved.
		return w.start.folder(withNUL("."))
	}
	path := strings.TrimSuffix(j.dir, "/")
	if j.parent != nil {
		return j.parent.folder.folder(withNUL(path[strings.LastIndexByte(path, '/')+1:]))
	}
	if w.config.Prefix != "" {
		path = path[len(w.config.Prefix)+1:]
	}
	return openBelow(w.start, path)
}

func (w *worker) unreadable(dir string) {
	w.left.Unreadable++
	keepName(&w.left.UnreadableNames, cmp.Or(dir, "./"))
}

// rules returns the level of a folder. Where the listing is complete, it
// tells which ignore files there are.
func (w *worker) rules(f folder, j *job, complete bool) *ignore.Level {
	if j.top && w.config.Rules != nil {
		return w.config.Rules // which include the top's own
	}
	var known *present
	if complete {
		known = &present{}
		for _, e := range w.listing.entries {
			if len(e.name) > 0 && e.name[0] == '.' {
				known.note(e.name)
			}
		}
	}
	level, bad := readRules(f, j.level, strings.TrimSuffix(j.dir, "/"), known)
	w.left.BadRules += bad
	return level
}

// handle goes through the entries of a listing: files are visited, or handed
// over in batches where there are many, and sub-folders are handed over.
func (w *worker) handle(j *job, h *handle) {
	w.subs = w.subs[:0]
	files := 0
	for _, e := range w.listing.entries {
		if w.halted.Load() {
			return // to ask for a kind may be slow, and the owner's rules too
		}
		switch w.judge(j, e) {
		case Dir:
			w.subs = append(w.subs, w.sub(j, h))
		case File:
			w.listing.entries[files] = e
			files++
		case Link:
			if w.config.Links {
				w.listing.entries[files] = e
				files++
			}
		}
	}
	// The jobs lie on a stack: in this order the first name comes first.
	slices.SortFunc(w.subs, func(a, b job) int { return strings.Compare(b.dir, a.dir) })
	if len(w.subs) > 0 {
		w.push(w.subs...)
	}
	todo := w.listing.entries[:files]
	for len(todo) > 2*batch && !w.crowded() {
		w.push(w.batchOf(j, h, todo[len(todo)-batch:]))
		todo = todo[:len(todo)-batch]
	}
	for _, e := range todo {
		w.visitFile(len(j.dir), e.name)
	}
}

// sub returns the job of the sub-folder that the entry is at.
func (w *worker) sub(j *job, h *handle) job {
	sub := job{dir: string(append(w.entry.path, '/')), level: j.level}
	if w.open.Load() < maxOpen {
		h.users.Add(1)
		sub.parent = h
	}
	return sub
}

func (w *worker) batchOf(j *job, h *handle, entries []listed) job {
	// The names stand in the listing's buffer, which will be used again.
	b := job{dir: j.dir, parent: h, files: make([][]byte, len(entries))}
	size := 0
	for _, e := range entries {
		size += len(e.name) + 1
	}
	names := make([]byte, 0, size)
	for i, e := range entries {
		at := len(names)
		names = append(append(names, e.name...), 0)
		b.files[i] = names[at : len(names)-1]
	}
	h.users.Add(1)
	return b
}

// judge says what to do with an entry: visit a File, enter a Dir, or nothing.
// The worker's entry is then at it.
func (w *worker) judge(j *job, e listed) Kind {
	w.entry.at(len(j.dir), e.name)
	path, kind := w.entry.path, e.kind
	if string(e.name) == ".git" {
		return Unknown
	}
	if kind == Unknown {
		if kind = statKind(w.entry.folder, e.name); kind == Unknown {
			w.unreadable(string(path))
			return Unknown
		}
	}
	dir := kind == Dir
	if w.config.Want != nil && !w.config.Want(path, dir) {
		// What a link leads to is not known, so it may be wanted as either.
		if kind != Link || !w.config.Want(path, true) {
			return Unknown
		}
	}
	verdict := ignore.None
	if !w.config.NoIgnore {
		verdict = j.level.Match(path, dir)
	}
	switch {
	case verdict == ignore.Drop:
		count(dir, &w.left.IgnoredFiles, &w.left.IgnoredFolders)
		keepName(&w.left.IgnoredNames, path)
		return Unknown
	case e.name[0] == '.' && !w.config.Hidden && verdict != ignore.Keep && (w.config.Dot == nil || !w.config.Dot(path, dir)):
		count(dir, &w.left.HiddenFiles, &w.left.HiddenFolders)
		return Unknown
	case dir && w.config.Closed != nil && w.config.Closed(path):
		w.left.Closed++
		return Unknown
	case kind == Link:
		w.left.Links++
		keepName(&w.left.LinkNames, path)
	case kind == Special:
		w.left.Special++
	}
	return kind
}

func count(dir bool, files, folders *int) {
	if dir {
		*folders++
	} else {
		*files++
	}
}
