// Package ignore decides which paths the ignore files of a tree leave out.
//
// It follows git: the rules of gitignore(5), read as git's own matcher reads
// them, oddities included, since a rule that hides a file from git must hide
// it here too. ripgrep's .ignore and .rgignore files have the same grammar
// and stand above .gitignore, as they do there.
//
// Two of git's sources lie outside the tree and are left alone on purpose:
// the file that core.excludesFile names, and ignore files above the root of
// the walk. What a search finds depends only on what lies beneath its root.
//
// The package reads no files. [Parse] takes the bytes of one ignore file,
// and a [Level] chains the rules of a folder to those of the folders above.
package ignore
