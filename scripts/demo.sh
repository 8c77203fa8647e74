#!/usr/bin/env bash
# Shows governed calls on a folder, without changing anything in it: what a
# model would see, calls that run, and calls that the rail stops.
set -euo pipefail
bin=$(cd "$(dirname "$0")/.." && pwd)/bin
dir=$(cd "${1:-.}" && pwd)
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
export PATH="$bin:$PATH" XDG_STATE_HOME="$state"
cd "$dir"

show() {
	printf '\n$ %s\n' "$*"
	local code=0
	"$@" 2>&1 || code=$?
	[ "$code" = 0 ] || printf '(exit code %d)\n' "$code"
}

echo "Governed calls on $dir. Nothing in it is changed."
show handrail tools --tokens
show handrail call list_dir path=.
show handrail call glob pattern='**/*.md' limit=5
show handrail call read_file path=/etc/passwd
show handrail explain write_file path=notes.txt content=hello
show handrail explain write_file path=notes.txt content=hello --mode read-only
show handrail explain write_file path=.git/config content=x
