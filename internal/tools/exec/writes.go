package exec

import (
	"strings"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
	"github.com/handrail-tools/handrail/tool"
)

// allowComment at the end of the last line lets a command write that would
// otherwise be refused. It steers a model that has better tools; it is no
// boundary, which is the fence. octos spells its own likewise.
const allowComment = "# handrail:allow-write"

// looksLikeWrite says which part of a command looks as if it wrote a file, or
// "". A command that is not understood looks like it: then the escape is a
// comment away. Programs that write files as part of other work, such as
// compilers, do not.
func looksLikeWrite(command string) string {
	p := shellparse.Parse(command)
	if len(p.Problems) > 0 {
		return "a command of which " + p.Problems[0]
	}
	for i := range p.Commands {
		c := &p.Commands[i]
		switch {
		case c.Remote:
		case len(c.Effects.Writes) > 0:
			return tool.Clip(c.String()) + ", which writes " + tool.Clip(c.Effects.Writes[0].Name)
		case isWriter(c) && c.Class != shellparse.ReadOnly:
			return tool.Clip(c.String())
		case c.Code != "" && writesInCode(c.Code):
			return c.Name + " with code that writes"
		}
	}
	return ""
}

// isWriter reports whether a command is there to change files, which it does
// not name as arguments that are known.
func isWriter(c *shellparse.Command) bool {
	switch c.Name {
	case "tee", "cp", "mv", "rm", "mkdir", "rmdir", "touch", "truncate", "ln", "install", "patch", "unzip", "dd", "rsync", "shred", "tar", "sed", "find":
		return true
	case "git":
		return len(c.Words) > 1 && (c.Words[1].Text == "apply" || c.Words[1].Text == "am")
	case "perl", "ruby":
		for _, w := range c.Words[1:] {
			if strings.HasPrefix(w.Text, "-i") || strings.HasPrefix(w.Text, "-pi") {
				return true
			}
		}
	}
	return false
}

// writesInCode reports whether a program in another language has words in it
// that open files for writing.
func writesInCode(code string) bool {
	return strings.Contains(code, "open(") && strings.Contains(code, "w") || strings.Contains(code, "write_text") || strings.Contains(code, "writeFile")
}

// judgeWrites refuses a command that looks as if it wrote files, or returns
// what is to be said about it afterwards if it really did.
func (k *Kit) judgeWrites(command string) (advice string, err error) {
	if k.Writes != WritesDeny && k.Writes != WritesWarn {
		return "", nil
	}
	what := looksLikeWrite(command)
	if what == "" {
		return "", nil
	}
	if k.Writes == WritesWarn {
		return "Files are better changed with edit_file, write_file or apply_patch: those keep encoding and line ends, and see what changed meanwhile.", nil
	}
	lines := strings.Split(strings.TrimRight(command, "\n\t "), "\n")
	if strings.Contains(lines[len(lines)-1], allowComment) {
		return "", nil
	}
	return "", tool.Errorf(tool.CodeDenied,
		"not run: in this session commands do not write files, and this one looks as if it did (%s). Use edit_file, write_file or apply_patch. "+
			"If it does not write files of the project, or no tool can do what is needed, end the last line with the comment %s.", what, allowComment)
}
