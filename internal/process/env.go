package process

import (
	"cmp"
	"net/url"
	"os"
	"slices"
	"strings"
)

// inherited are the variables that a command gets from this process: who and
// where the user is, the language, and where tools have their parts. A name
// that ends in "*" stands for all that begin so.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "COLUMNS", "LINES",
	"XDG_*", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTMPDIR", "GOFLAGS", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GONOSUMDB",
	"GOSUMDB", "GOTOOLCHAIN", "GOWORK", "GOENV", "GO111MODULE", "CGO_ENABLED", "GOOS", "GOARCH",
	"CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE",
	"NVM_DIR", "NODE_ENV", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "COREPACK_HOME", "PNPM_HOME", "npm_config_cache", "npm_config_registry",
	"PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "CONDA_*", "PIP_CACHE_DIR", "PIP_INDEX_URL", "UV_CACHE_DIR", "POETRY_HOME",
	"JAVA_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "ANDROID_HOME", "DOTNET_ROOT", "GEM_HOME", "RBENV_ROOT",
	"CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "MAKEFLAGS", "CI",
	"SYSTEMROOT", "SystemRoot", "COMSPEC", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "USERPROFILE", "WINDIR",
}

// loaders are the variables that put code into every program that starts.
// Nobody can have them passed on; the list is that of octos.
var loaders = []string{
	"LD_*", "DYLD_*", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "BASH_ENV", "ENV", "ZDOTDIR", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS",
	"PROMPT_COMMAND", "IFS", "PS4", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_TRACE", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_CONFIG_*",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
}

// fixed are set for every command: nothing may wait for a person where there
// is none, draw colours for a model, or take a lock that a person's own git
// would trip over.
var fixed = []string{
	"PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "AWS_PAGER=",
	"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "DEBIAN_FRONTEND=noninteractive", "NPM_CONFIG_UPDATE_NOTIFIER=false",
	"MSYS_NO_PATHCONV=1", "MSYS2_ARG_CONV_EXCL=*", "HANDRAIL=1",
}

// secretWords are the parts of a name, between its underscores, that say that
// the value is a secret.
var secretWords = []string{
	"TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSCODE", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PAT", "BEARER",
	"AUTHORIZATION", "AUTH", "COOKIE", "KEY", "APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY",
}

// Environment says what commands get to know of the environment of this
// process. The zero value gives them what is on the list of this package.
type Environment struct {
	// Pass names further variables to pass on, as an operator wrote them.
	// One that has the name of a secret is passed on if it is named here; one
	// that puts code into programs never is.
	Pass []string
	// Set are variables with a value, "NAME=value", that come last.
	Set []string
	// Secrets are values that are never passed on, as a whole or within
	// another, whatever their variable is called, unless it is named in Pass.
	Secrets []string
	// From is the environment that is looked at; nil means that of this
	// process.
	From []string
}

// Build returns the environment of a command, sorted, and the names that are
// set here and were kept from it because they are secrets or would put code
// into programs.
func (e Environment) Build(interactive bool) (env, withheld []string) {
	values := map[string]string{}
	from := e.From
	if from == nil {
		from = os.Environ()
	}
	for _, kv := range from {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		switch {
		case matches(loaders, strings.ToUpper(name)):
			withheld = append(withheld, name)
		case slices.Contains(e.Pass, name):
			values[name] = value
		case IsSecretName(name) || e.holdsSecret(value) || hasUserinfo(value):
			withheld = append(withheld, name)
		case matches(inherited, name):
			values[name] = value
		}
	}
	for _, kv := range slices.Concat(defaults(values, interactive), e.Set) {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	slices.Sort(withheld)
	return env, withheld
}

func (e Environment) holdsSecret(value string) bool {
	return slices.ContainsFunc(e.Secrets, func(secret string) bool { return secret != "" && strings.Contains(value, secret) })
}

// Override returns env with the variables of with, each of which takes the
// place of one of the same name: of two, some programs take the first and some
// the last.
func Override(env, with []string) []string {
	names := map[string]bool{}
	for _, kv := range with {
		name, _, _ := strings.Cut(kv, "=")
		names[name] = true
	}
	out := make([]string, 0, len(env)+len(with))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !names[name] {
			out = append(out, kv)
		}
	}
	return append(out, with...)
}

// defaults are the variables that this package sets.
func defaults(values map[string]string, interactive bool) []string {
	set := slices.Clone(fixed)
	if interactive {
		set = append(set, "TERM=xterm-256color")
	} else {
		// Git fails where it wants an editor and has a dumb terminal. With this
		// one it takes the message that it would have offered, and refuses an
		// empty one.
		set = append(set, "TERM=dumb", "NO_COLOR=1", "GIT_EDITOR=true")
	}
	switch cmp.Or(values["LC_ALL"], values["LC_CTYPE"], values["LANG"]) {
	case "", "C", "POSIX":
		// Programs would replace every character that is not ASCII. This is the
		// same in all else, and what Codex sets.
		set = append(set, "LC_ALL=C.UTF-8")
	}
	if values["PATH"] == "" {
		set = append(set, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	return set
}

// IsSecretName reports whether a variable of that name is taken for a secret.
func IsSecretName(name string) bool {
	upper := strings.ToUpper(name)
	if strings.Contains(upper, "APIKEY") || strings.Contains(upper, "API_KEY") {
		return true
	}
	parts := strings.FieldsFunc(upper, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(secretWords, p) })
}

// hasUserinfo reports whether a value is a URL with a name or a password in
// it, as those of proxies and registries may have.
func hasUserinfo(value string) bool {
	if !strings.Contains(value, "@") || !strings.Contains(value, "://") {
		return false
	}
	for _, one := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '|' || r == ' ' }) {
		u, err := url.Parse(one)
		if err != nil && strings.Contains(one, "://") || err == nil && u.User != nil {
			return true
		}
	}
	return false
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return p == name
	})
}
