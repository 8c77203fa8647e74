#!/usr/bin/env bash
# PostToolUse, matcher Edit|MultiEdit|Write: takes blanks from the ends of
# lines, and complains about what is left to do.
set -euo pipefail
file=$(jq -r '.tool_response.filePath // .tool_input.file_path')
case "$file" in
  "$CLAUDE_PROJECT_DIR"/*.txt) sed -i 's/[[:space:]]*$//' "$file" ;;
  *) exit 0 ;;
esac
if grep -n 'lorem' "$file" >&2; then
  echo "$file still has filler text" >&2
  exit 2
fi
