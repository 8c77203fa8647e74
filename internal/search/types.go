package search

import (
	"maps"
	"slices"
	"sync"
)

// fileTypes are the file types that a search can be limited to, under the
// names that ripgrep users know.
var fileTypes = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"asm":        {"*.asm", "*.s", "*.S"},
		"bazel":      {"BUILD", "BUILD.bazel", "WORKSPACE", "*.bazel", "*.bzl"},
		"c":          {"*.c", "*.h", "*.H", "*.cats"},
		"clojure":    {"*.clj", "*.cljc", "*.cljs", "*.cljx"},
		"cmake":      {"CMakeLists.txt", "*.cmake"},
		"config":     {"*.cfg", "*.conf", "*.config", "*.ini"},
		"cpp":        {"*.cpp", "*.hpp", "*.cc", "*.hh", "*.cxx", "*.hxx", "*.C", "*.H", "*.h", "*.inl"},
		"cs":         {"*.cs"},
		"csharp":     {"*.cs"},
		"css":        {"*.css", "*.scss"},
		"csv":        {"*.csv"},
		"dart":       {"*.dart"},
		"diff":       {"*.patch", "*.diff"},
		"docker":     {"Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile"},
		"elixir":     {"*.ex", "*.exs", "*.eex", "*.heex", "*.leex"},
		"erlang":     {"*.erl", "*.hrl"},
		"fish":       {"*.fish"},
		"go":         {"*.go"},
		"gradle":     {"*.gradle", "*.gradle.kts", "gradle.properties", "gradlew"},
		"graphql":    {"*.graphql", "*.graphqls"},
		"groovy":     {"*.groovy", "*.gradle"},
		"h":          {"*.h", "*.hh", "*.hpp"},
		"haskell":    {"*.hs", "*.lhs", "*.cabal"},
		"html":       {"*.html", "*.htm", "*.ejs"},
		"java":       {"*.java", "*.jsp", "*.jspx", "*.properties"},
		"js":         {"*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue"},
		"json":       {"*.json", "*.jsonc", "composer.lock", "*.sarif"},
		"jsonl":      {"*.jsonl", "*.ndjson"},
		"julia":      {"*.jl"},
		"kotlin":     {"*.kt", "*.kts"},
		"less":       {"*.less"},
		"lisp":       {"*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"},
		"lock":       {"*.lock", "package-lock.json", "go.sum", "pnpm-lock.yaml"},
		"log":        {"*.log"},
		"lua":        {"*.lua"},
		"make":       {"[Gg][Nn][Uu]makefile", "[Mm]akefile", "[Mm]akefile.am", "[Mm]akefile.in", "*.mk", "*.mak"},
		"markdown":   {"*.markdown", "*.md", "*.mdown", "*.mdx", "*.mkd"},
		"md":         {"*.markdown", "*.md", "*.mdown", "*.mdx", "*.mkd"},
		"nix":        {"*.nix"},
		"objc":       {"*.h", "*.m"},
		"ocaml":      {"*.ml", "*.mli", "*.mll", "*.mly"},
		"perl":       {"*.perl", "*.pl", "*.PL", "*.plh", "*.plx", "*.pm", "*.t"},
		"php":        {"*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"},
		"proto":      {"*.proto"},
		"protobuf":   {"*.proto"},
		"ps":         {"*.cdxml", "*.ps1", "*.ps1xml", "*.psd1", "*.psm1"},
		"py":         {"*.py", "*.pyi"},
		"python":     {"*.py", "*.pyi"},
		"r":          {"*.R", "*.r", "*.Rmd", "*.rmd", "*.Rnw"},
		"rst":        {"*.rst"},
		"ruby":       {"*.rb", "*.rbw", "*.gemspec", "Gemfile", "Rakefile", "config.ru", ".irbrc"},
		"rust":       {"*.rs"},
		"sass":       {"*.sass", "*.scss"},
		"scala":      {"*.scala", "*.sbt"},
		"sh":         {"*.sh", "*.bash", "*.zsh", "*.ksh", ".bashrc", ".profile", ".zshrc", "bashrc", "PKGBUILD"},
		"sql":        {"*.sql", "*.psql"},
		"svelte":     {"*.svelte"},
		"swift":      {"*.swift"},
		"terraform":  {"*.tf", "*.tf.json", "*.tfvars", "*.tfvars.json", "*.terraformrc", "terraform.rc"},
		"tex":        {"*.tex", "*.ltx", "*.cls", "*.sty", "*.bib", "*.dtx", "*.ins"},
		"toml":       {"*.toml", "Cargo.lock"},
		"ts":         {"*.ts", "*.tsx", "*.cts", "*.mts"},
		"txt":        {"*.txt"},
		"typescript": {"*.ts", "*.tsx", "*.cts", "*.mts"},
		"vim":        {"*.vim", ".vimrc", ".gvimrc", "vimrc"},
		"vue":        {"*.vue"},
		"xml":        {"*.xml", "*.xml.dist", "*.dtd", "*.xsl", "*.xslt", "*.xsd", "*.xjb", "*.rng", "*.sch", "*.xhtml"},
		"yaml":       {"*.yaml", "*.yml"},
		"zig":        {"*.zig"},
	}
})

// TypeNames returns the names of the file types, sorted.
func TypeNames() []string { return slices.Sorted(maps.Keys(fileTypes())) }
