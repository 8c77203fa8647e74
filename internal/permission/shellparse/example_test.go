package shellparse_test

import (
	"fmt"

	"github.com/handrail-tools/handrail/internal/permission/shellparse"
)

func ExampleParse() {
	p := shellparse.Parse(`cd web && sudo -n sh -c "rm -rf build > log" && npm test`)
	for _, c := range p.Commands {
		fmt.Println(c.Name, c.Via, c.Class)
	}
	fmt.Println(p.Why())
	// Output:
	// cd [] read-only
	// sudo [] dangerous
	// sh [sudo] read-only
	// rm [sudo sh -c] dangerous
	// npm [] unknown
	// sudo -n sh -c "rm -rf build > log": dangerous by its nature
}

func ExampleSet() {
	deny, _ := shellparse.ParsePattern("git push:*")
	allow, _ := shellparse.ParsePattern("git *")

	p := shellparse.Parse(`git -C .. push origin; echo "$(git status)" > f`)
	if m, ok := shellparse.NewSet(deny).Hit(p); ok {
		fmt.Println("refused:", p.Commands[m.Command].String(), m.Sure)
	}
	cover := shellparse.NewSet(allow).Cover(p, true)
	fmt.Println(cover.Commands(), cover.All(), cover.Writes[0].Name)
	// Output:
	// refused: git -C .. push origin true
	// true false f
}
