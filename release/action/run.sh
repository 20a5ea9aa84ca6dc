#!/usr/bin/env bash
# The action's second step: one of three commands, with one argument a line. voicectl annotates by itself.
set -euo pipefail

case "$COMMAND" in
  stream | check | exec) ;;
  *)
    echo "::error title=voicectl::command is $COMMAND: expected stream, check or exec"
    exit 2
    ;;
esac

args=()
while IFS= read -r line; do
  [ -z "$line" ] || args+=("$line")
done <<<"$ARGS"
# An empty key would be a key.
[ -n "${VOICECTL_API_KEY:-}" ] || unset VOICECTL_API_KEY
exec "$VOICECTL" "$COMMAND" ${args[@]+"${args[@]}"}
