#!/usr/bin/env bash
# Google's own Go clients against the emulator (tests/integration/go); skipped where there is no Go.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
name=${RESULT_NAME:-go}
mkdir -p build/results
if ! command -v go >/dev/null; then
  say "there is no Go on this machine: its clients are not tried"
  echo "0 passed, 0 failed" | tee "build/results/$name"
  exit 0
fi
scripts/setup.sh build
scripts/build-command.sh
output=$(log_file go)
status=0
# go.sum pins every module by its hash; -mod=readonly lets nothing else in.
(cd tests/integration/go && PENSTOCK="$PWD/../../../bin/penstock" go test -mod=readonly -count=1 -v ./...) 2>&1 |
  tee "$output" || status=$?
good=$(grep -cE '^ *--- PASS: ' "$output" || true)
bad=$(grep -cE '^ *--- FAIL: ' "$output" || true)
echo "$good passed, $bad failed" | tee "build/results/$name"
[ $status -eq 0 ] && [ "$good" -gt 0 ]
