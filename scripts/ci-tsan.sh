#!/usr/bin/env bash
# The tests labelled `threads` under ThreadSanitizer. They call no gRPC: Debian's is not instrumented and would
# give false races.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build test
scripts/build.sh tsan penstock_threads_tests
RESULT_NAME=${RESULT_NAME:-tsan} scripts/run-tests.sh tsan --label-regex '^threads$' "$@"
