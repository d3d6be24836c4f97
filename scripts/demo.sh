#!/usr/bin/env bash
# Loads a real data set into the embedded emulator and looks at it: 200,000 flights from the npm package
# vega-datasets (flights-200k.json, one JSON array). The data directory is the demo's own and emptied each time.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

file=third_party/demo-data/node_modules/vega-datasets/data/flights-200k.json
table=demo.flights.flights_200k
data=build/demo-data
rm -rf "$data"

# run ARGUMENT...: shows the command as the reader would type it, then runs it.
run() {
  printf '\n$ bin/penstock %s\n' "$*"
  bin/penstock "$@"
}

run load "$file" --to "$table" --local --data-dir "$data" --autodetect
run show "$table" --local --data-dir "$data"
run head "$table" -n 5 --local --data-dir "$data"

cat <<END

That was your machine only: the rows went through the sink's own gRPC connection into the emulator that this command
embeds, and lie in $data. Try next:

  bin/penstock head $table -n 20 --json --local --data-dir $data
  bin/penstock load YOUR.json --to my-project.my_dataset.my_table --local --autodetect
  bin/penstock emulate --dataset my-project.my_dataset      # the emulator by itself, for clients in any language
  bin/penstock load YOUR.json --to PROJECT.DATASET.TABLE    # BigQuery itself, with your own credentials
  bin/penstock options                                      # every option of the sink
END
