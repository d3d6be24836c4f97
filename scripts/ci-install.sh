#!/usr/bin/env bash
# Installs into a folder, then builds and runs a project outside the tree that finds Penstock there.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
scripts/setup.sh build
prefix=$PWD/build/install-check/prefix
consumer=$PWD/build/install-check/consumer
rm -rf build/install-check
scripts/install.sh "$prefix"
"$prefix/bin/penstock" --version
cmake -S tests/install -B "$consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
  >"$(log_file install-consumer)" 2>&1 || { cat "$(log_file install-consumer)"; fail "find_package(Penstock) failed"; }
cmake --build "$consumer"
"$consumer/consumer"
say "installed, found by find_package, built against and run"
