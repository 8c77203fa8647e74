package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What other systems learned the hard way is numbered: L for a lesson of
// octos, F for a field report of any tool system. Each number in these
// ranges is a test of ours that carries it in its name, or has a reason in
// excused why there is nothing to test yet.
var lessonRanges = []struct {
	letter      string
	first, last int
}{{"L", 1, 75}, {"L", 77, 77}, {"F", 1, 199}, {"F", 248, 258}}

// excused says why a lesson has no test, and which part brings it.
var excused = map[string]string{
	"L27":  "files that a background task delivers come with the tasks, after part 5",
	"L28":  "the answer of a background task comes with the tasks, after part 5",
	"F123": "how a provider takes a stranger's schema comes with the servers whose tools we take in, part 6",
	"F126": "names are shortened for the tools of other servers, part 6",
	"F127": "we start no other server before part 6",
	"F128": "we start no other server before part 6",
	"F129": "we start no other server before part 6",
	"F130": "we start no other server before part 6",
	"F131": "we start no other server before part 6",
	"F132": "we start no other server before part 6",
	"F133": "we write to no other server before part 6",
	"F134": "we connect to no other server before part 6",
	"F135": "we call no other server before part 6",
	"F136": "we list no other server before part 6",
	"F138": "what a model is given of another server's result comes with part 6",
	"F139": "what a model is given of another server's result comes with part 6",
	"F140": "results as arguments of another server's tools come with part 6",
	"F142": "we call no other server before part 6",
	"F143": "we call no other server before part 6",
	"F144": "we connect to no other server before part 6",
	"F145": "the gateway, which relays, comes with part 6",
	"F146": "we log in to no other server before part 6",
	"F147": "we log in to no other server before part 6",
	"F148": "what a model is given of another server's result comes with part 6",
	"F149": "what many servers cost comes with part 6",
	"F153": "another server's definitions are pinned in part 6",
	"F159": "we keep no connection to another server before part 6",
	"F160": "we keep no connection to another server before part 6",
	"F164": "we are the client of no other server before part 6",
	"F248": "skills are read from part 6 on",
	"F249": "skills are read from part 6 on",
	"F250": "skills are read from part 6 on",
	"F255": "skills are read from part 6 on",
	"F256": "skills are read from part 6 on",
	"F257": "skills are listed from part 6 on",
	"F258": "plugins are installed from part 6 on",
	"F194": "nothing shortens diffs before workspace_diff, which comes with part 2",
}

var (
	// nameOfTest finds the numbers in TestL39_SwapRace or TestL15F198_X.
	nameOfTest = regexp.MustCompile(`^Test((?:[LF]\d+_?)+)`)
	// nameOfSubtest finds those in "F166 3.0" or "F166 F178 big integer".
	nameOfSubtest = regexp.MustCompile(`^((?:[LF]\d+ )+)\S`)
	// nameOfScript finds those in the comment of a txtar archive.
	nameOfScript = regexp.MustCompile(`(?m)^# ((?:[LF]\d+ )+)\S`)
	number       = regexp.MustCompile(`([LF])0*(\d+)`)
)

// TestEveryLessonIsATest fails for a number that nobody tests or excuses,
// and for an excuse that is no longer needed.
func TestEveryLessonIsATest(t *testing.T) {
	tested := namedLessons(t)
	for _, r := range lessonRanges {
		for n := r.first; n <= r.last; n++ {
			id := r.letter + strconv.Itoa(n)
			reason, isExcused := excused[id]
			switch where := tested[id]; {
			case where == nil && !isExcused:
				t.Errorf("%s: no test carries this number, and nothing excuses it", id)
			case where != nil && isExcused:
				t.Errorf("%s is excused (%s) and tested in %s; take the excuse away", id, reason, where[0])
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(excused)) {
		if !inLessonRange(id) {
			t.Errorf("the excuse for %s is for a number out of range", id)
		}
		if !regexp.MustCompile(`part \d`).MatchString(excused[id]) {
			t.Errorf("the excuse for %s does not say which part brings it: %q", id, excused[id])
		}
	}
}

func inLessonRange(id string) bool {
	for _, r := range lessonRanges {
		n, err := strconv.Atoi(strings.TrimPrefix(id, r.letter))
		if err == nil && r.first <= n && n <= r.last && strings.HasPrefix(id, r.letter) {
			return true
		}
	}
	return false
}

// namedLessons returns where each number stands in the name of a test, of a
// subtest, or of a table's row, which is a subtest's name too.
func namedLessons(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	add := func(numbers []byte, where string) {
		for _, m := range number.FindAllSubmatch(numbers, -1) {
			id := string(m[1]) + string(m[2])
			found[id] = append(found[id], where)
		}
	}
	dir, files := root(t)
	for _, name := range files {
		switch {
		case path.Ext(name) == ".txtar":
			for _, m := range nameOfScript.FindAllSubmatch(read(t, dir, name), -1) {
				add(m[1], name)
			}
		case strings.HasSuffix(name, "_test.go") && name != "internal/house/lessons_test.go":
			inGoTest(t, name, read(t, dir, name), add)
		}
	}
	return found
}

func inGoTest(t *testing.T, name string, data []byte, add func(numbers []byte, where string)) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, data, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if m := nameOfTest.FindSubmatch([]byte(n.Name.Name)); m != nil && n.Recv == nil {
				add(m[1], fmt.Sprint(fset.Position(n.Pos())))
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				break
			}
			if m := nameOfSubtest.FindSubmatch(bytes.Trim([]byte(n.Value), "\"`")); m != nil {
				add(m[1], fmt.Sprint(fset.Position(n.Pos())))
			}
		}
		return true
	})
}

// TestLessonsAreFound keeps the rule above from passing because it reads
// nothing, or reads too much.
func TestLessonsAreFound(t *testing.T) {
	var got []string
	const source = "package p\nfunc TestL15_F198_Both(t *testing.T) { t.Run(\"F166 F0178 exact\", nil); log(\"see F199 above\", \"L20\") }\nfunc (x) TestL30() {}\n"
	inGoTest(t, "x_test.go", []byte(source), func(numbers []byte, _ string) {
		got = append(got, strings.TrimSpace(string(numbers)))
	})
	if want := []string{"L15_F198_", "F166 F0178"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
