#!/bin/sh
# A smoke test of a voice service, for cron and any pipeline that runs a shell. VOICECTL_BASE_URL and VOICECTL_API_KEY
# name the service and the key. A service that cannot be reached or is overloaded gets a second chance; a verdict does not.
# Run it in a folder where voicectl is installed: `npx --no` runs what is installed and downloads nothing.
set -u
conversation=${1:-examples/conversation.yaml}

smoke_test() {
  npx --no -- voicectl stream --expect-file "$conversation" --timeout 2m --junit junit.xml --json >session.jsonl
}

smoke_test
code=$?
case $code in
  4 | 5 | 7)
    echo "Exit $code: trying again in ${VOICE_RETRY_SECONDS:-30} s" >&2
    sleep "${VOICE_RETRY_SECONDS:-30}"
    smoke_test
    code=$?
    ;;
esac
exit $code
