#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/serializers/protobuf_mapping.h"
#include "penstock/connector/row_batch.h"

namespace penstock::bigquery {

struct ProtobufMessageOptions {
  /// A field that the message type does not have fails the record. Default: off, such fields are
  /// dropped (BQT-016): a newer program may have written them.
  bool rejectUnknownFields = false;
};

/// Turns the bytes of messages of one type into rows of one table. One thread at a time.
class ProtobufMessageSerializer {
 public:
  /// Pairs the fields with the columns, by name; an error lists all that does not fit.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<ProtobufMessageSerializer>> create(
      const ProtobufMapping& mapping, const TableSchema& columns,
      const ProtobufMessageOptions& options = {});
  ~ProtobufMessageSerializer();

  /// Writes the row of a message to the end of `row`. INVALID_ARGUMENT: the message cannot become a
  /// row ("items[2].price (NUMERIC): ...; found ..."), and `row` may hold part of it.
  [[nodiscard]] absl::Status serialize(std::string_view message, connector::RowEncoder& row);

  /// Where a caller may put the `size` bytes of its next message; valid until the next call.
  [[nodiscard]] char* scratch(size_t size) {
    if (scratch_.size() < size) scratch_.resize(size);
    return scratch_.data();
  }

 private:
  class Implementation;
  explicit ProtobufMessageSerializer(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
  std::string scratch_;
};

}  // namespace penstock::bigquery
