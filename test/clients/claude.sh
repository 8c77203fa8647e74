#!/usr/bin/env bash
# Runs the real Claude Code against `handrail mcp` over stdio, with a scripted
# model on loopback: the client must list our tools, call one, and hand its
# result back to the model. Usage: test/clients/claude.sh FOLDER, where FOLDER
# has node_modules with @anthropic-ai/claude-code and node of version 22.
set -euo pipefail
modules=$(cd "${1:?folder with node_modules}" && pwd)/node_modules
here=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'exec 3>&-; rm -rf "$scratch"' EXIT

(cd "$here" && CGO_ENABLED=0 go build -o "$scratch/handrail" ./cmd/handrail && go build -o "$scratch/model" ./test/clients/model)
mkdir "$scratch/files" "$scratch/home"
printf 'the answer is 42\n' >"$scratch/files/notes.txt"
mkfifo "$scratch/alive"
"$scratch/model" -tool mcp__handrail__read_file -args '{"path":"notes.txt"}' -log "$scratch/requests.jsonl" \
	<"$scratch/alive" >"$scratch/address" &
exec 3>"$scratch/alive" # the model ends when this is closed
for _ in $(seq 50); do [ -s "$scratch/address" ] && break || sleep 0.1; done

cat >"$scratch/mcp.json" <<JSON
{"mcpServers":{"handrail":{"type":"stdio","command":"$scratch/handrail","args":["mcp","-w","$scratch/files"]}}}
JSON
cd "$scratch/files"
env -i HOME="$scratch/home" PATH="$modules/.bin:$PATH" ANTHROPIC_API_KEY=fake ANTHROPIC_BASE_URL="http://$(cat "$scratch/address")" \
	ENABLE_TOOL_SEARCH=false DISABLE_TELEMETRY=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
	timeout 60 claude -p 'read the notes' --mcp-config "$scratch/mcp.json" --strict-mcp-config \
	--allowedTools 'mcp__handrail__*' --output-format stream-json --verbose </dev/null >"$scratch/out.jsonl"

listed=$(grep -o '"mcp__handrail__[a-z_]*"' "$scratch/out.jsonl" | sort -u | wc -l)
grep -q 'the answer is 42' "$scratch/requests.jsonl" || { echo "the result did not reach the model"; tail -c 2000 "$scratch/out.jsonl"; exit 1; }
echo "claude $(env -i HOME="$scratch/home" PATH="$modules/.bin:$PATH" claude --version): lists $listed of our tools, calls read_file, and hands its result to the model"
