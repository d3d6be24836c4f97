#!/usr/bin/env bash
# Builds and installs command, library, headers and CMake package.
#
# usage: scripts/install.sh PREFIX      DESTDIR is respected
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
prefix=$1
scripts/build.sh release install-all
cmake --install build/release --prefix "$prefix" >"$(log_file install)"
say "installed under $prefix ($(grep -c -e '-- Installing' "$(log_file install)" || true) files new or changed)"
