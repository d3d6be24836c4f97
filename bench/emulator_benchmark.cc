// What the emulator makes of appends, beside a server that only acknowledges the same ones.

#include <google/cloud/bigquery/storage/v1/storage.pb.h>

#include <cstring>

#include "bench/emulator_table.h"
#include "bench/prepared_requests.h"
#include "bench/server_process.h"

namespace penstock::bench {
namespace {

constexpr size_t kRowBytes = kEmulatorRowBytes;
constexpr size_t kRequests = 16;  // distinct ones, 8 MiB

PreparedRequests prepare() {
  google::cloud::bigquery::storage::v1::ProtoSchema schema;
  auto& descriptor = *schema.mutable_proto_descriptor();
  descriptor.set_name("Row");
  for (const EmulatorTableField& column : kEmulatorTableFields) {
    auto& field = *descriptor.add_field();
    field.set_name(column.name);
    field.set_number(descriptor.field_size());
    field.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    field.set_type(static_cast<google::protobuf::FieldDescriptorProto::Type>(column.protobufType));
  }
  std::string head;
  putText(1, kEmulatorStream, head);
  std::string schemaField;
  putText(1, schema.SerializeAsString(), schemaField);

  PreparedRequests requests;
  requests.rowsPerRequest = static_cast<size_t>(kRequestRowBytes) / kRowBytes;
  requests.rowBytesPerRequest = requests.rowsPerRequest * kRowBytes;
  for (size_t index = 0; index < kRequests; ++index) {
    std::string rows;
    for (size_t row = 0; row < requests.rowsPerRequest; ++row) {
      putText(1, emulatorRow(index * requests.rowsPerRequest + row), rows);
    }
    if (index == 0) requests.first.push_back(requestOf(rows, head, schemaField));
    requests.others.push_back(requestOf(rows));
  }
  return requests;
}

/// To a server that stays the same.
class Appends final : public Benchmark {
 public:
  explicit Appends(std::string server) : server_(std::move(server)), requests_(prepare()) {}
  absl::StatusOr<Measurement> run(base::Duration duration) override {
    return sendRequests(server_, requests_, duration);
  }

 private:
  const std::string server_;
  const PreparedRequests requests_;
};

/// To an emulator that begins empty each time, and whose rows go with it.
class EmulatorAppends final : public Benchmark {
 public:
  absl::StatusOr<Measurement> run(base::Duration duration) override {
    PENSTOCK_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> emulator,
                              ServerProcess::start("penstock_bench_emulator"));
    return sendRequests(emulator->address(), requests_, duration);
  }

 private:
  const PreparedRequests requests_ = prepare();
};

}  // namespace

std::unique_ptr<Benchmark> appendBenchmark(std::string server) {
  return std::make_unique<Appends>(std::move(server));
}

std::unique_ptr<Benchmark> emulatorAppendBenchmark() { return std::make_unique<EmulatorAppends>(); }

}  // namespace penstock::bench
