#!/usr/bin/env bash
# Configures and builds one preset.
#
# usage: scripts/build.sh PRESET [TARGET]... [-- CMAKE_ARGUMENT...]
#   JOBS=N       compilers at once (default: what the processors and the memory allow)
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

preset=$1
shift
targets=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  targets+=("$1")
  shift
done
[ $# -eq 0 ] || shift

folder=build/$preset
# Objects of equal sources are shared between checkouts in different folders.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1

# CMake runs again by itself when one of its files or the set of sources changes.
if [ ! -f "$folder/build.ninja" ] || [ $# -gt 0 ]; then
  cmake --preset "$preset" "$@" >"$(log_file "configure-$preset")" 2>&1 || {
    tail -n 25 "$(log_file "configure-$preset")" >&2
    fail "CMake could not configure the preset $preset; its whole output is in $(log_file "configure-$preset")"
  }
fi
cmake --build "$folder" --parallel "$(jobs_for_this_machine)" ${targets[0]+--target "${targets[@]}"}
