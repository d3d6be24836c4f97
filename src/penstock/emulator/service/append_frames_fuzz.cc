// Bytes as an AppendRowsRequest and its frames: what protobuf reads, the emulator reads the same
// way without copying, and the rows that it would store can be read back one by one.
#include <google/cloud/bigquery/storage/v1/storage.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "penstock/emulator/service/append_request.h"
#include "penstock/emulator/service/request_rows.h"
#include "penstock/emulator/storage/segment.h"

namespace penstock::emulator {
namespace {

namespace api = google::cloud::bigquery::storage::v1;
using google::protobuf::FieldDescriptorProto;

void demand(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: does not hold\n", __FILE__, line);
  std::abort();
}

/// What rows of one field are judged by, with a default for a second column.
struct Target {
  Target() {
    Field number;
    number.name = "n";
    number.type = FieldType::kInt64;
    Field state;
    state.name = "state";
    state.defaultValueExpression = "'new'";
    schema.fields = {number, state};
    google::protobuf::DescriptorProto row;
    row.set_name("Row");
    FieldDescriptorProto& field = *row.add_field();
    field.set_name("n");
    field.set_number(1);
    field.set_type(FieldDescriptorProto::TYPE_INT64);
    writer.bytes = row.SerializeAsString();
    filler = *DefaultFiller::make(writer, {&schema.fields[1]});
    plain = checksFor(writer.bytes);
    filled = checksFor(filler->descriptor());
  }

  [[nodiscard]] std::shared_ptr<const RowChecks> checksFor(const std::string& bytes) const {
    google::protobuf::DescriptorProto row;
    demand(row.ParseFromString(bytes));
    return std::make_shared<const RowChecks>(*RowPlan::compile(row, schema));
  }

  Schema schema;
  RowDescriptor writer;
  std::shared_ptr<const DefaultFiller> filler;
  std::shared_ptr<const RowChecks> plain;
  std::shared_ptr<const RowChecks> filled;
};

/// The rows as the store reads them back.
std::vector<std::string> readBack(const FramedRows& framed) {
  std::string bytes;
  for (const std::string_view piece : framed.pieces) bytes += piece;
  std::vector<std::string> rows;
  demand(visitFramedRows(bytes, [&](std::string_view row) {
           rows.emplace_back(row);
           return absl::OkStatus();
         }).ok());
  demand(rows.size() == framed.rowCount);
  return rows;
}

void compare(const AppendRequest& request, const api::AppendRowsRequest& reference) {
  demand(request.writeStream == reference.write_stream());
  demand(request.offset.has_value() == reference.has_offset());
  demand(!request.offset.has_value() || *request.offset == reference.offset().value());
  demand(request.hasProtoRows == reference.has_proto_rows());
  demand(request.hasArrowRows == reference.has_arrow_rows());
  demand(request.missingValues.size() >=
         static_cast<size_t>(reference.missing_value_interpretations_size()));
}

void run(std::string_view bytes) {
  static const Target& target = *new Target;
  static base::Random& random = *base::seededRandom(1).release();
  // protobuf would report each string that is no UTF-8.
  [[maybe_unused]] static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);
  AppendRequest request;
  const bool read = request.parse(bytes).ok();
  api::AppendRowsRequest reference;
  const bool isRequest = reference.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  demand(read || !isRequest);
  if (!read) return;
  if (isRequest) compare(request, reference);

  RequestRows::Errors errors;
  RequestRows rows;
  RowValidator plain(target.plain);
  const bool judged = rows.judge(request.rows, plain, nullptr, {}, random, errors).ok();
  demand(judged || !isRequest);
  if (!judged) return;
  demand(static_cast<uint64_t>(errors.size()) <= rows.badRows());
  const std::vector<std::string> stored = readBack(rows.framed());
  if (isRequest && request.hasProtoRows) {
    const auto& sent = reference.proto_rows().rows().serialized_rows();
    demand(std::vector<std::string>(sent.begin(), sent.end()) == stored);
  }
  const uint64_t badRows = rows.badRows();

  errors.Clear();
  RowValidator filled(target.filled);
  demand(rows.judge(request.rows, filled, target.filler.get(), {}, random, errors).ok());
  demand(readBack(rows.framed()).size() == stored.size());
  demand(rows.badRows() == badRows);
}

}  // namespace
}  // namespace penstock::emulator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  penstock::emulator::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
