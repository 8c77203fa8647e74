package exec

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/handrail-tools/handrail/tool"
)

// allowComment at the end of the last line lets a command write that would
// otherwise be refused. It steers a model that has better tools; it is no
// boundary, which is the fence. octos spells its own likewise.
const allowComment = "# handrail:allow-write"

// isWriter reports whether a command changes the files that it is given.
func isWriter(name string) bool {
	switch name {
	case "tee", "cp", "mv", "rm", "mkdir", "rmdir", "touch", "truncate", "ln", "install", "patch", "unzip", "dd", "rsync", "shred":
		return true
	}
	return false
}

// writingFlags are the flags with which a program writes that else does not.
func writingFlags(name string) []string {
	switch name {
	case "sed":
		return []string{"-i", "--in-place", "-ni", "-Ei", "-ri"}
	case "perl", "ruby":
		return []string{"-i", "-pi"}
	case "awk", "gawk":
		return []string{"-i"}
	case "tar":
		return []string{"-x", "x", "--extract", "-c", "c", "--create"}
	case "sort":
		return []string{"-o"}
	}
	return nil
}

// looksLikeWrite says which part of a command looks as if it wrote a file, or
// "". A command that is not understood looks like it: then the escape is a
// comment away.
func (s *script) looksLikeWrite() string {
	if s.file == nil {
		return "a command that cannot be parsed"
	}
	found := ""
	note := func(what string) {
		if found == "" {
			found = what
		}
	}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if writesTo(n) {
				note("the redirection " + n.Op.String() + " " + tool.Clip(n.Word.Lit()))
			}
		case *syntax.CallExpr:
			if what := writingCall(n); what != "" {
				note(what)
			}
		}
		return found == ""
	})
	return found
}

func writesTo(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll:
		return r.Word.Lit() != "/dev/null" && !strings.HasPrefix(r.Word.Lit(), "/dev/std")
	}
	return false
}

func writingCall(call *syntax.CallExpr) string {
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		words[i] = literal(w)
	}
	for i, word := range words {
		name := word[strings.LastIndexByte(word, '/')+1:]
		switch {
		case i > 0 && !isWrapper(words[0]):
			return ""
		case isWriter(name):
			return name
		case name == "git" && i+1 < len(words) && (words[i+1] == "apply" || words[i+1] == "am"):
			return "git " + words[i+1]
		}
		for _, flag := range writingFlags(name) {
			for _, w := range words[i+1:] {
				if w == flag || strings.HasPrefix(w, flag) && strings.HasPrefix(flag, "-") {
					return name + " " + w
				}
			}
		}
		if code := strings.Join(words[i:], " "); isInterpreter(name) && (strings.Contains(code, "open(") && strings.Contains(code, "w") ||
			strings.Contains(code, "write_text") || strings.Contains(code, "writeFile")) {
			return name + " with code that writes"
		}
	}
	return ""
}

func isWrapper(name string) bool {
	switch name {
	case "sudo", "env", "nohup", "nice", "time", "timeout", "xargs", "command", "exec", "setsid", "stdbuf", "doas", "ionice", "builtin":
		return true
	}
	return false
}

func isInterpreter(name string) bool {
	return strings.HasPrefix(name, "python") || name == "node" || name == "ruby" || name == "perl"
}

// judgeWrites refuses a command that looks as if it wrote files, or returns
// what is to be said about it afterwards if it really did.
func (k *Kit) judgeWrites(s *script) (advice string, err error) {
	if k.Writes != WritesDeny && k.Writes != WritesWarn {
		return "", nil
	}
	what := s.looksLikeWrite()
	if what == "" {
		return "", nil
	}
	if k.Writes == WritesWarn {
		return "Files are better changed with edit_file, write_file or apply_patch: those keep encoding and line ends, and see what changed meanwhile.", nil
	}
	lines := strings.Split(strings.TrimRight(s.text, "\n\t "), "\n")
	if strings.Contains(lines[len(lines)-1], allowComment) {
		return "", nil
	}
	return "", tool.Errorf(tool.CodeDenied,
		"not run: in this session commands do not write files, and this one looks as if it did (%s). Use edit_file, write_file or apply_patch. "+
			"If it does not write files of the project, or no tool can do what is needed, end the last line with the comment %s.", what, allowComment)
}
