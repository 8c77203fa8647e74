#!/usr/bin/env python3
"""PreToolUse, matcher Bash: refuses what deletes, and makes a push a dry run."""
import json
import re
import sys

data = json.load(sys.stdin)
if data.get("tool_name") != "Bash":
    sys.exit(0)
command = data["tool_input"].get("command", "")
if re.search(r"\brm\s+-[a-z]*r", command):
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "recursive rm is not allowed; move the files to ./trash",
    }}))
elif command.startswith("echo push"):
    updated = dict(data["tool_input"], command=command + " --dry-run")
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": updated,
        "additionalContext": "pushes are dry runs here",
    }}))
