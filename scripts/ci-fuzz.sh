#!/usr/bin/env bash
# A short run of each fuzz target.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build fuzz
FUZZ_SECONDS=${FUZZ_SECONDS:-10} RESULT_NAME=${RESULT_NAME:-fuzz} scripts/fuzz.sh "$@"
