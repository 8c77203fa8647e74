#!/usr/bin/env bash
# Runs the official MCP conformance suite against the fixtures that
# `handrail mcp --http ADDR --conformance` serves: the requirements of both
# eras on one address. Usage: test/conformance/run.sh BINARY FOLDER, where
# FOLDER has node_modules with the suite and node of version 22.
set -euo pipefail
binary=${1:?binary} modules=$(cd "${2:?folder with node_modules}" && pwd)/node_modules
export PATH=$modules/.bin:$PATH
scratch=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT

"$binary" mcp --http 127.0.0.1:0 --conformance 2>"$scratch/server" &
server=$!
for _ in $(seq 50); do [ -s "$scratch/server" ] && break || sleep 0.1; done
port=$(sed -n 's|.*http://127\.0\.0\.1:\([0-9]*\)/.*|\1|p' "$scratch/server")

failed=0
for revision in 2025-11-25 2026-07-28; do
	# Two scenarios of the suite depend on timing of its own, so a failure
	# gets one more attempt.
	for attempt in 1 2; do
		if conformance server --url "http://localhost:$port/mcp" --requirements "$revision" >"$scratch/$revision" 2>&1; then
			break
		fi
		[ "$attempt" = 1 ] || { failed=1; grep -v '^===\|^Running' "$scratch/$revision"; }
	done
	printf '%s: %s\n' "$revision" "$(grep '^Total' "$scratch/$revision")"
done
exit "$failed"
