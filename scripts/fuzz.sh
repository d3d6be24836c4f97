#!/usr/bin/env bash
# Builds the fuzz targets with clang-14's libFuzzer and runs each for FUZZ_SECONDS (60), FUZZ_JOBS (the processors) at
# a time. An input that fails is left in build/asan/fuzz/findings.
#
# usage: scripts/fuzz.sh [TARGET]...
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
scripts/build.sh asan penstock_fuzz_targets
findings=$PWD/build/asan/fuzz/findings
mkdir -p "$findings" build/results
export FUZZ_SECONDS=${FUZZ_SECONDS:-60} FUZZ_FINDINGS=$findings
outcomes=$(mktemp -d)
trap 'rm -rf "$outcomes"' EXIT

# One target, on its own: what it prints goes to its log, how it ended to a file of $outcomes.
run_target() {
  local program=$1 target log
  target=$(basename "$program")
  log=$(log_file "fuzz-$target")
  local corpus=build/asan/fuzz/corpus/$target seeds=tests/fuzz/corpus/$target
  mkdir -p "$corpus"
  local arguments=("$corpus")
  [ -d "$seeds" ] && arguments+=("$seeds")
  # This target keeps what it was told from input to input; libFuzzer would take that for a leak and look for it
  # after each. What is left at the end is still looked for.
  [ "$target" != rest_api_fuzz ] || arguments+=(-detect_leaks=0)
  if "$program" -max_total_time="$FUZZ_SECONDS" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$FUZZ_FINDINGS/$target-" "${arguments[@]}" >"$log" 2>&1; then
    say "$target ran for $FUZZ_SECONDS s: $(grep -E '^stat::number_of_executed_units' "$log" | tr -s ' ' | cut -d' ' -f2) inputs"
    : >"$outcomes/$target.passed"
  else
    say "$target failed: $log ends in"
    tail -n 40 "$log"
    : >"$outcomes/$target.failed"
  fi
}

programs=()
while read -r program; do
  if [ $# -gt 0 ] && [[ " $* " != *" $(basename "$program") "* ]]; then continue; fi
  programs+=("$program")
done < <(find build/asan -type f -name '*_fuzz' -perm -u+x -not -path '*/corpus/*' -not -path '*/CMakeFiles/*' | sort)
say "${#programs[@]} fuzz targets for $FUZZ_SECONDS s each"
jobs_at_once=${FUZZ_JOBS:-$(nproc)}
for program in "${programs[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs_at_once" ]; do wait -n || true; done
  run_target "$program" &
done
wait
good=$(find "$outcomes" -name '*.passed' | wc -l) bad=$(find "$outcomes" -name '*.failed' | wc -l)
[ $((good + bad)) -eq ${#programs[@]} ] || bad=$((${#programs[@]} - good))
echo "$good passed, $bad failed" | tee "build/results/${RESULT_NAME:-fuzz}"
[ "$bad" -eq 0 ] && [ "$good" -gt 0 ]
