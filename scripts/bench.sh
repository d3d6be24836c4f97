#!/usr/bin/env bash
# Runs the benchmarks; prints the figures and writes build/bench-report.json. Measure on a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release penstock_bench
exec build/release/bench/penstock_bench --report build/bench-report.json "$@"
