#!/usr/bin/env bash
# Shows that the checks can fail (scripts/lint_test.py), then makes them.
#
# usage: scripts/lint.sh [CHECK]...
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/results
tests=$(python3 scripts/lint_test.py 2>&1)
status=$?
ran=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' <<<"$tests")
bad=$(grep -cE '^(FAIL|ERROR): ' <<<"$tests")
[ $status -eq 0 ] || printf '%s\n' "$tests"
echo "$((${ran:-0} - bad)) passed, $bad failed" > "build/results/${RESULT_NAME:-lint}"
echo "lint: tests of the checks: $(cat "build/results/${RESULT_NAME:-lint}")"
python3 scripts/lint.py "$@" && [ $status -eq 0 ]
