#!/usr/bin/env bash
# Compares the search with ripgrep in one run, with the same work: every
# matching line is written out. The corpus is the Go source tree seven times,
# 1.1 GB in 80,000 files, made in a folder that is removed afterwards; name
# one with HANDRAIL_CORPUS to use another.
set -euo pipefail
cd "$(dirname "$0")/.."
npm ci --prefix internal/search/testdata/ripgrep --ignore-scripts --no-audit --no-fund --silent
if [ -z "${HANDRAIL_CORPUS:-}" ]; then
	HANDRAIL_CORPUS=$(mktemp -d)
	trap 'rm -rf "$HANDRAIL_CORPUS"' EXIT
	for i in 1 2 3 4 5 6 7; do cp -r "$(go env GOROOT)/src" "$HANDRAIL_CORPUS/$i"; done
	git -C "$HANDRAIL_CORPUS" init -q
fi
export HANDRAIL_CORPUS
go test -tags measure -count=1 -run '^TestSpeed$' -v ./internal/search "$@"
