#!/usr/bin/env bash
# Runs the C example against an emulator and looks for its rows: the test of what docs/c-api.md shows.
#
# usage: run_quickstart_c.sh PENSTOCK QUICKSTART
set -euo pipefail
penstock=$1 quickstart=$2
coproc emulator { exec "$penstock" emulate --dataset p.d --rest-port 0 --grpc-port 0; }
trap 'kill "$emulator_PID" 2>/dev/null || true' EXIT
read -r -t 20 line <&"${emulator[0]}"
rest=$(sed -E 's#.*REST on http://([^,]+),.*#\1#' <<<"$line")
grpc=$(sed -E 's#.*gRPC on ([^ ]+) .*#\1#' <<<"$line")
"$quickstart" "$grpc" "$rest" p.d.people
rows=$("$penstock" head p.d.people --json --emulator-endpoint "$grpc" --emulator-rest-endpoint "$rest" 2>/dev/null)
[ "$(wc -l <<<"$rows")" -eq 2 ]
grep -q '"name":"alice"' <<<"$rows" && grep -q '"name":"bob"' <<<"$rows"
