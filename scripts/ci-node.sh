#!/usr/bin/env bash
# Google's own Node.js clients against the emulator (tests/integration/node).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
name=${RESULT_NAME:-node}
scripts/setup.sh build
scripts/build-command.sh
fetch_npm tests/integration/node "Google's Node.js clients"
mkdir -p build/results
output=$(log_file node)
status=0
(cd tests/integration/node && PENSTOCK="$PWD/../../../bin/penstock" npm test --silent) 2>&1 | tee "$output" || status=$?
good=$(sed -nE 's/^(#|ℹ) pass ([0-9]+)$/\2/p' "$output" | tail -n 1)
bad=$(sed -nE 's/^(#|ℹ) fail ([0-9]+)$/\2/p' "$output" | tail -n 1)
echo "${good:-0} passed, ${bad:-1} failed" | tee "build/results/$name"
[ $status -eq 0 ] && [ "${good:-0}" -gt 0 ]
