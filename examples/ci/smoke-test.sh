#!/bin/sh
# A smoke test of a voice service, for cron and any pipeline that runs a shell. VOICECTL_BASE_URL and VOICECTL_API_KEY
# say where and as whom. A service that cannot be reached, or has too much to do, gets a second chance; a verdict does not.
set -u
conversation=${1:-examples/conversation.yaml}

smoke_test() {
  npx --yes voicectl@0.1 stream --expect-file "$conversation" --timeout 2m --junit junit.xml --json >session.jsonl
}

smoke_test
code=$?
case $code in
  4 | 5 | 7)
    echo "Exit $code: once more in ${VOICE_RETRY_SECONDS:-30} s" >&2
    sleep "${VOICE_RETRY_SECONDS:-30}"
    smoke_test
    code=$?
    ;;
esac
exit $code
