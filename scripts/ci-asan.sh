#!/usr/bin/env bash
# All unit and simulation tests, compiled with clang, under AddressSanitizer, LeakSanitizer and
# UndefinedBehaviorSanitizer. The simulation plays a fifth of the seeds that `make test` plays.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build test fuzz
scripts/build.sh asan
PENSTOCK_SEEDS=${PENSTOCK_SEEDS:-1000} RESULT_NAME=${RESULT_NAME:-asan} scripts/run-tests.sh asan --label-exclude 'no-sanitizer' "$@"
