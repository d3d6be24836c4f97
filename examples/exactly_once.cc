// Writes orders exactly once, through a crash: a checkpoint is taken and stored, rows are written
// after it, the process "dies", and another one goes on from what was stored.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/emulator/emulator.h"

namespace {

using namespace penstock::bigquery;  // NOLINT(google-build-using-namespace): an example
namespace connector = penstock::connector;
namespace emulator = penstock::emulator;

constexpr std::string_view kSchema = R"([{"name": "id", "type": "INT64"}])";

/// What a checkpoint holds. A real host stores it durably, with how far its input is read.
struct Checkpoint {
  int64_t number = 0;
  int nextOrder = 0;
  std::vector<connector::WriterState> states;
  std::vector<connector::Committable> committables;
};

// [sink]
using Sink = BigQuerySink<std::string_view>;

auto makeSink(const emulator::Emulator& emulator, const TableSchema& schema) {
  auto builder = Sink::builder();
  builder.table("my-project.shop.orders")
      .writeMethod(WriteMethod::kStorageApiExactlyOnce)
      .bufferedStreamOptions({})  // the defaults
      .serializer([=] { return std::make_unique<JsonDocumentSerializationSchema>(schema); })
      .emulatorEndpoint(emulator.grpcEndpoint())
      .emulatorRestEndpoint(emulator.restEndpoint());
  return builder.build();
}
// [/sink]

// [host]
/// Begins where `stored` ends, writes `orders` orders and, if it lives so long, takes a checkpoint.
absl::Status runJob(const Sink& sink, Checkpoint& stored, int orders, bool dies) {
  // The process before may have died between storing a checkpoint and committing it; twice does no
  // harm.
  PENSTOCK_ASSIGN_OR_RETURN(const auto committer, sink.createCommitter());
  PENSTOCK_RETURN_IF_ERROR(committer->commit(stored.committables));
  PENSTOCK_ASSIGN_OR_RETURN(const auto writer, sink.restoreWriter({}, stored.states));
  Checkpoint next{.number = stored.number + 1, .nextOrder = stored.nextOrder + orders};
  for (int id = stored.nextOrder; id < next.nextOrder; ++id) {
    PENSTOCK_RETURN_IF_ERROR(writer->write(fmt::format(R"({{"id": {}}})", id), {}));
  }
  PENSTOCK_RETURN_IF_ERROR(writer->flush(/*endOfInput=*/false));  // in the streams, not visible yet
  if (dies) return absl::OkStatus();                              // nothing ever commits these rows
  PENSTOCK_ASSIGN_OR_RETURN(next.committables, writer->prepareCommit());
  PENSTOCK_ASSIGN_OR_RETURN(next.states, writer->snapshotState(next.number));
  stored = next;                                  // 1. store it, durably
  return committer->commit(stored.committables);  // 2. only then make the rows visible
}
// [/host]

absl::Status run() {
  emulator::EmulatorOptions options;
  options.restPort = 0;  // any free port
  options.grpcPort = 0;
  options.datasets = {"my-project.shop"};
  PENSTOCK_ASSIGN_OR_RETURN(const auto emulator, emulator::Emulator::start(options));
  PENSTOCK_ASSIGN_OR_RETURN(const TableSchema schema, parseSchemaJson(kSchema));
  PENSTOCK_ASSIGN_OR_RETURN(const auto sink, makeSink(*emulator, schema));
  Checkpoint stored;
  PENSTOCK_RETURN_IF_ERROR(runJob(*sink, stored, 10, /*dies=*/false));
  PENSTOCK_RETURN_IF_ERROR(runJob(*sink, stored, 7, /*dies=*/true));
  PENSTOCK_RETURN_IF_ERROR(runJob(*sink, stored, 10, /*dies=*/false));
  PENSTOCK_ASSIGN_OR_RETURN(const uint64_t rows, emulator->rowCount("my-project.shop.orders"));
  if (rows == 20) return absl::OkStatus();
  return penstock::base::makeStatus(absl::StatusCode::kDataLoss, "{} rows instead of 20", rows);
}

}  // namespace

int main() {
  const absl::Status status = run();
  std::puts(status.ok() ? "twenty orders, each exactly once"
                        : penstock::base::describe(status).c_str());
  return status.ok() ? 0 : 1;
}
