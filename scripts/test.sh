#!/usr/bin/env bash
# Builds everything in the release preset and runs all tests.
#
# usage: scripts/test.sh [CTEST_ARGUMENT]...      scripts/test.sh -R emulator
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

[ -f build/release/CTestTestfile.cmake ] || say "building everything (five to fifteen minutes the first time)"
scripts/build.sh release
scripts/run-tests.sh release "$@"
