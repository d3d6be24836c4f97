#!/usr/bin/env bash
# Runs the tests of one built preset and prints how many single tests passed and failed. The counts are also left
# in build/results/NAME, where .ci/run adds them up.
#
# usage: scripts/run-tests.sh PRESET [CTEST_ARGUMENT]...
#   RESULT_NAME  the name under build/results/ (default: PRESET)
set -uo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

preset=$1
shift
name=${RESULT_NAME:-$preset}
mkdir -p build/results
report=$PWD/build/results/$name.xml
rm -f "$report" "build/results/$name" "build/results/$name.failures"

# An AddressSanitizer report must end a test as a failure also where a test expects a process to fail.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}

ctest --test-dir "build/$preset" --parallel "$(jobs_for_this_machine)" --output-on-failure --no-tests=error \
  --timeout 1200 --test-output-size-passed 50000000 --test-output-size-failed 50000000 \
  --output-junit "$report" "$@"
status=$?
python3 scripts/count_tests.py "$report" "build/results/$name.failures" > "build/results/$name"
counted=$?
cat "build/results/$name"
[ $status -eq 0 ] && [ $counted -eq 0 ]
