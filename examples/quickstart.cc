// Writes two orders to a table that does not exist yet, against an emulator embedded in this
// program.
#include <cstdio>
#include <string_view>

#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/schema/schema_json.h"
#include "penstock/bigquery/serializers/json_document_serialization_schema.h"
#include "penstock/emulator/emulator.h"

namespace {

using namespace penstock::bigquery;  // NOLINT(google-build-using-namespace): an example
namespace emulator = penstock::emulator;

constexpr std::string_view kSchema =
    R"([{"name": "id", "type": "INT64"}, {"name": "placed", "type": "TIMESTAMP"}])";

// [sink]
absl::Status writeOrders(const emulator::Emulator& emulator) {
  PENSTOCK_ASSIGN_OR_RETURN(const TableSchema schema, parseSchemaJson(kSchema));
  auto builder = BigQuerySink<std::string_view>::builder();
  builder.table("my-project.shop.orders")
      .serializer([=] { return std::make_unique<JsonDocumentSerializationSchema>(schema); })
      .emulatorEndpoint(emulator.grpcEndpoint())       // without these two lines
      .emulatorRestEndpoint(emulator.restEndpoint());  // the rows go to BigQuery itself
  PENSTOCK_ASSIGN_OR_RETURN(const auto sink, builder.build());
  PENSTOCK_ASSIGN_OR_RETURN(const auto writer, sink->createWriter({}));
  PENSTOCK_RETURN_IF_ERROR(writer->write(R"({"id": 1, "placed": "2026-11-29T08:00:00Z"})", {}));
  PENSTOCK_RETURN_IF_ERROR(writer->write(R"({"id": 2})", {}));
  PENSTOCK_RETURN_IF_ERROR(writer->flush(/*endOfInput=*/true));  // acknowledged: visible now
  return writer->close();
}
// [/sink]

absl::Status run() {
  emulator::EmulatorOptions options;
  options.restPort = 0;  // any free port
  options.grpcPort = 0;
  options.datasets = {"my-project.shop"};
  PENSTOCK_ASSIGN_OR_RETURN(const auto emulator, emulator::Emulator::start(options));
  return writeOrders(*emulator);
}

}  // namespace

int main() {
  const absl::Status status = run();
  std::puts(status.ok() ? "two orders written" : penstock::base::describe(status).c_str());
  return status.ok() ? 0 : 1;
}
