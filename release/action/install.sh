#!/usr/bin/env bash
# The action's first step: the executable of a release, if its checksum is right.
# TARGET: system and processor of the runner; REPOSITORY, VERSION: the release; WANTED: a checksum, or nothing.
set -euo pipefail

fail() {
  echo "::error title=voicectl::$1"
  exit 2
}

case "$TARGET" in
  Linux-X64) name=voicectl-linux-x64 ;;
  Linux-ARM64) name=voicectl-linux-arm64 ;;
  macOS-ARM64) name=voicectl-darwin-arm64 ;;
  macOS-X64) name=voicectl-darwin-x64 ;;
  Windows-X64) name=voicectl-win-x64.exe ;;
  *) fail "There is no executable for $TARGET. Use the npm package." ;;
esac

folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/voicectl-XXXXXX")
# Without a version, that of the action itself.
if [ -z "${VERSION:-}" ] && [ -n "${GITHUB_ACTION_PATH:-}" ]; then
  VERSION=v$(sed -n 's/^  "version": "\([^"]*\)".*/\1/p' "$GITHUB_ACTION_PATH/package.json")
fi
gh release download ${VERSION:+"$VERSION"} --repo "$REPOSITORY" --dir "$folder" \
  --pattern "$name" --pattern SHA256SUMS ||
  fail "The release ${VERSION:-latest} of $REPOSITORY has no $name."

sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

wanted=${WANTED:-$(while read -r hash file; do [ "$file" != "$name" ] || echo "$hash"; done <"$folder/SHA256SUMS")}
[ -n "$wanted" ] || fail "SHA256SUMS has no checksum of $name."
found=$(sum "$folder/$name")
[ "$found" = "$wanted" ] || fail "$name is not what it should be: its checksum is $found, not $wanted."

chmod +x "$folder/$name"
echo "executable=$folder/$name" >>"$GITHUB_OUTPUT"
"$folder/$name" --version --verbose
