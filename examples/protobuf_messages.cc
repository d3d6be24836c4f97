// Writes protobuf messages to a table that is created from their type, against an emulator embedded
// in this program.
#include <cstdio>

#include "examples/order.pb.h"
#include "penstock/bigquery/bigquery_sink.h"
#include "penstock/bigquery/serializers/protobuf_message_serialization_schema.h"
#include "penstock/emulator/emulator.h"

namespace {

using namespace penstock::bigquery;  // NOLINT(google-build-using-namespace): an example
namespace emulator = penstock::emulator;

// [sink]
absl::Status writeOrders(const emulator::Emulator& emulator) {
  // What is wrong with a message type is said here, before any record.
  PENSTOCK_ASSIGN_OR_RETURN(const auto mapping, ProtobufMapping::of<shop::Order>());
  auto builder = BigQuerySink<shop::Order>::builder();
  builder.table("my-project.shop.orders")
      .serializer([=] {
        return std::make_unique<ProtobufMessageSerializationSchema<shop::Order>>(mapping);
      })
      .emulatorEndpoint(emulator.grpcEndpoint())       // without these two lines
      .emulatorRestEndpoint(emulator.restEndpoint());  // the rows go to BigQuery itself
  PENSTOCK_ASSIGN_OR_RETURN(const auto sink, builder.build());
  PENSTOCK_ASSIGN_OR_RETURN(const auto writer, sink->createWriter({}));
  shop::Order order;
  order.set_id(1);
  order.mutable_placed()->set_seconds(1'796'025'600);
  order.add_items()->set_product("tea");
  PENSTOCK_RETURN_IF_ERROR(writer->write(order, {}));
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
  std::puts(status.ok() ? "an order written" : penstock::base::describe(status).c_str());
  return status.ok() ? 0 : 1;
}
