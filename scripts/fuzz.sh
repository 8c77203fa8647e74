#!/usr/bin/env bash
# Runs every fuzz target of the repository for the time that is given, one
# after the other, and stops at the first that finds something.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-60s}
grep -rlE --include='*_test.go' '^func Fuzz[A-Z]' . | xargs -n1 dirname | sort -u | while read -r dir; do
	for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | cut -d' ' -f2); do
		echo "== $dir $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1s "$dir"
	done
done
