#!/bin/bash
# PreToolUse, matcher Edit|Write: some files are not edited by an agent.
input=$(cat)
file=$(jq -r '.tool_input.file_path // empty' <<<"$input")
for pattern in .env package-lock.json .git/; do
  if [[ "$file" == *"$pattern"* ]]; then
    echo "Blocked: $file matches the protected pattern '$pattern'" >&2
    exit 2
  fi
done
exit 0
