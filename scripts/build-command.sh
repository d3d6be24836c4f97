#!/usr/bin/env bash
# Builds the command and leaves it at bin/penstock.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

[ -x bin/penstock ] || say "building bin/penstock (some minutes the first time)"
scripts/build.sh release penstock
mkdir -p bin
ln -sfn ../build/release/apps/penstock/penstock bin/penstock
