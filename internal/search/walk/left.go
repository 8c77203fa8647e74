package walk

import "slices"

// Left counts what a walk left out. Of a folder that was left out nobody
// knows what is in it; it counts as one.
type Left struct {
	// IgnoredFiles and IgnoredFolders are left out by ignore files.
	IgnoredFiles, IgnoredFolders int
	// HiddenFiles and HiddenFolders have a name that begins with a dot.
	HiddenFiles, HiddenFolders int
	// Links are symbolic links, which are not followed.
	Links int
	// Special are pipes, sockets and devices.
	Special int
	// Closed are folders that [Config.Closed] names.
	Closed int
	// Unreadable are folders that could not be read, or whose entries could
	// not be told apart.
	Unreadable int
	// BadRules are ignore files that could not be read or are larger than
	// [ignore.MaxFile]; their rules did not apply.
	BadRules int

	// IgnoredNames, LinkNames and UnreadableNames are the first few of each,
	// as paths in order.
	IgnoredNames, LinkNames, UnreadableNames []string
}

// maxNames is how many names of a kind are kept.
const maxNames = 3

// Any reports whether anything was left out.
func (l *Left) Any() bool {
	return l.IgnoredFiles+l.IgnoredFolders+l.HiddenFiles+l.HiddenFolders+l.Links+l.Special+l.Closed+l.Unreadable+l.BadRules > 0
}

func (l *Left) add(o *Left) {
	l.IgnoredFiles += o.IgnoredFiles
	l.IgnoredFolders += o.IgnoredFolders
	l.HiddenFiles += o.HiddenFiles
	l.HiddenFolders += o.HiddenFolders
	l.Links += o.Links
	l.Special += o.Special
	l.Closed += o.Closed
	l.Unreadable += o.Unreadable
	l.BadRules += o.BadRules
	for _, n := range o.IgnoredNames {
		keepName(&l.IgnoredNames, n)
	}
	for _, n := range o.LinkNames {
		keepName(&l.LinkNames, n)
	}
	for _, n := range o.UnreadableNames {
		keepName(&l.UnreadableNames, n)
	}
}

// keepName keeps the name if it is among the first.
func keepName[T string | []byte](list *[]string, name T) {
	if len(*list) == maxNames && string(name) >= (*list)[maxNames-1] {
		return
	}
	at, _ := slices.BinarySearch(*list, string(name))
	*list = slices.Insert(*list, at, string(name))
	if len(*list) > maxNames {
		*list = (*list)[:maxNames]
	}
}
