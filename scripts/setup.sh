#!/usr/bin/env bash
# Installs what the named groups of scripts/packages.txt need (default: build test bench lint), and fetches the
# pinned API definitions. Says what it installs; quick and silent when nothing is left to do.
#
# usage: scripts/setup.sh [build|test|bench|lint|tidy|fuzz|npm|demo-data]...
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

groups=("$@")
[ ${#groups[@]} -gt 0 ] || groups=(build test bench lint)

wanted_packages() {
  local package in_groups group
  while read -r package in_groups _; do
    case "$package" in ''|'#'*) continue ;; esac
    for group in "${groups[@]}"; do
      case ",$in_groups," in *",$group,"*) echo "$package"; break ;; esac
    done
  done < scripts/packages.txt
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
if command -v dpkg-query >/dev/null 2>&1; then
  for package in $(wanted_packages); do
    is_installed "$package" || missing+=("$package")
  done
  # A newer Node.js than Debian's may be there already; any npm does.
  command -v npm >/dev/null 2>&1 || missing+=(npm)
elif ! command -v npm >/dev/null 2>&1; then
  fail "this script installs packages with apt-get (Debian 12). Elsewhere, install npm and the equivalents of
       scripts/packages.txt yourself, then run it again."
fi

if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null 2>&1 || fail "missing packages, and no apt-get to install them: ${missing[*]}"
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
      fail "these packages are missing: ${missing[*]}
       Run \`make setup\` once as root, or install sudo."
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null >/dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    "${missing[@]}" </dev/null >"$(log_file apt-install)" ||
    fail "apt-get could not install them; its output is in $(log_file apt-install)"
fi

fetch_npm third_party/google-apis "Google's API definitions"
for group in "${groups[@]}"; do
  if [ "$group" = demo-data ]; then fetch_npm third_party/demo-data "the demo's data set"; fi
done
