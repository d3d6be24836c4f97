#!/usr/bin/env bash
# clang-tidy-14 on the C++ files changed since the last landing, the most recently changed first, for at most
# TIDY_MINUTES: says how many it did not reach.
#
#   TIDY_BASE=COMMIT   what to compare with (default: where this branch left origin/main; on main itself, its last
#                      first-parent commit)
#   TIDY_MINUTES=N     default 5; 0 = no limit
#   TIDY_STRICT=0      findings do not fail the run, unless a file does not compile by itself
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# The compile commands, and the generated headers that the sources include.
scripts/build.sh tidy penstock_api >/dev/null

base=${TIDY_BASE:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
if [ -z "$base" ] || [ "$(git rev-parse "$base")" = "$(git rev-parse HEAD)" ]; then
  base=$(git rev-parse -q --verify 'HEAD^1' || git hash-object -t tree /dev/null)
fi

mapfile -t files < <(
  git diff --name-only --diff-filter=d "$base" -- '*.cc' | while read -r file; do
    grep -qF "/$file\"" build/tidy/compile_commands.json || continue
    echo "$(git log -1 --format=%ct -- "$file") $file"
  done | sort -rn | cut -d' ' -f2-)
if [ ${#files[@]} -eq 0 ]; then
  say "no C++ file changed since $(git rev-parse --short "$base")"
  exit 0
fi

minutes=${TIDY_MINUTES:-5}
say "clang-tidy-14 on ${#files[@]} files changed since $(git rev-parse --short "$base")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/done" "$work/problems"
# Each file's findings are kept once: a header is seen from many sources.
check_one() {
  [ "$minutes" -eq 0 ] || [ "$(date +%s)" -lt "$until" ] || return 0
  if ! clang-tidy-14 --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option "$1" >"$work/$$.$RANDOM.out" 2>/dev/null; then
    echo "$1" >> "$work/problems"
  fi
  echo "$1" >> "$work/done"
}
export -f check_one
export work minutes until=$(($(date +%s) + minutes * 60))
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(jobs_for_this_machine)" bash -c 'check_one "$1"' _

cat "$work"/*.out 2>/dev/null | grep -E ': (warning|error): ' | sed "s#$PWD/##" | sort -u || true
looked=$(wc -l < "$work/done")
say "$looked of ${#files[@]} files looked at, $(wc -l < "$work/problems") with findings"
[ "$looked" -eq ${#files[@]} ] || say "the rest was not reached in $minutes minutes: TIDY_MINUTES=0 make tidy looks at all"
# The other builds give the compiler several files at once, where one may live on what another includes.
if grep -qs 'clang-diagnostic-error' "$work"/*.out; then
  fail "a file does not compile by itself: see its errors above"
fi
# TIDY_STRICT=0 only tells: what CI does until the whole tree has been looked at once.
[ "${TIDY_STRICT:-1}" -eq 0 ] || [ ! -s "$work/problems" ]
