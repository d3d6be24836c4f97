# Shared by the scripts of this folder; sourced from the root of the tree.

say() { printf 'penstock: %s\n' "$*"; }

fail() {
  printf 'penstock: error: %s\n' "$*" >&2
  exit 1
}

# log_file NAME: where the output of a long step goes.
log_file() {
  mkdir -p build/log
  echo "build/log/$1.log"
}

# fetch_npm FOLDER WHAT: installs the folder's lock file (exact versions with integrity hashes, no install
# scripts), once per content of the lock file.
fetch_npm() {
  local folder=$1 what=$2 stamp="$1/node_modules/.penstock-lock" hash
  hash=$(sha256sum "$folder/package-lock.json")
  [ "$(cat "$stamp" 2>/dev/null)" = "$hash" ] && return
  say "fetching $what ($folder/package-lock.json, with npm)"
  (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >/dev/null) ||
    fail "npm could not fetch $what: see the lines above"
  printf '%s\n' "$hash" > "$stamp"
}

# jobs: how many compilers may run at once. One for each processor, but each needs about 1.2 GB at worst.
jobs_for_this_machine() {
  if [ -n "${JOBS:-}" ]; then
    echo "$JOBS"
    return
  fi
  local processors memory
  processors=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1258291) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((processors < memory ? processors : memory))
}
