// The emulator with empty tables in a process of its own: bench.bench.bench and, with a number as
// its argument, so many more (t0, t1, ...). Prints its gRPC port and serves until its standard
// input is closed; its data are in a temporary directory that goes with it.

#include <httplib.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bench/emulator_table.h"
#include "penstock/emulator/emulator.h"

namespace {

using nlohmann::json;

bool makeTable(httplib::Client& client, const std::string& name) {
  json fields = json::array();
  for (const auto& column : penstock::bench::kEmulatorTableFields) {
    fields.push_back({{"name", column.name}, {"type", column.type}, {"mode", column.mode}});
  }
  const json table = {
      {"tableReference", {{"projectId", "bench"}, {"datasetId", "bench"}, {"tableId", name}}},
      {"schema", {{"fields", fields}}}};
  const httplib::Result made = client.Post("/bigquery/v2/projects/bench/datasets/bench/tables",
                                           table.dump(), "application/json");
  return made && made->status == 200;
}

}  // namespace

int main(int count, char** values) {
  penstock::emulator::EmulatorOptions options;
  options.restPort = 0;
  options.grpcPort = 0;
  options.datasets = {"bench.bench"};
  const auto emulator = penstock::emulator::Emulator::start(options);
  if (!emulator.ok()) return 1;
  httplib::Client client("127.0.0.1", (*emulator)->ports().rest);
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);  // a head and a body are two writes
  if (!makeTable(client, "bench")) return 1;
  const int more = count > 1 ? std::atoi(values[1]) : 0;
  for (int table = 0; table < more; ++table) {
    if (!makeTable(client, "t" + std::to_string(table))) return 1;
  }
  std::printf("%d\n", (*emulator)->ports().grpc);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  (*emulator)->stop();
  return 0;
}
