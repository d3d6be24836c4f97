#include "penstock/bigquery/serializers/testing/json_serializer_fixture.h"

#include "penstock/connector/row_batch.h"

namespace penstock::bigquery {

Column column(std::string name, ColumnType type, ColumnMode mode) {
  Column result;
  result.name = std::move(name);
  result.type = type;
  result.mode = mode;
  return result;
}

Column repeated(std::string name, ColumnType type) {
  return column(std::move(name), type, ColumnMode::kRepeated);
}

Column required(std::string name, ColumnType type) {
  return column(std::move(name), type, ColumnMode::kRequired);
}

Column structColumn(std::string name, std::vector<Column> fields, ColumnMode mode) {
  Column result = column(std::move(name), ColumnType::kStruct, mode);
  result.fields = std::move(fields);
  return result;
}

Column rangeColumn(std::string name, ColumnType elementType) {
  Column result = column(std::move(name), ColumnType::kRange);
  result.rangeElementType = elementType;
  return result;
}

namespace {

/// Ends an open row: its bytes, or the error of `status`.
absl::StatusOr<std::string> finishRow(connector::RowBatch& batch, const absl::Status& status) {
  if (!status.ok()) {
    batch.discardRow();
    return status;
  }
  batch.commitRow();
  return std::string(batch.row(batch.rowCount() - 1));
}

/// The document between two others that are fine, as lines of one buffer.
absl::StatusOr<std::string> rowFromBatch(JsonDocumentSerializer& serializer,
                                         std::string_view document) {
  const std::string neighbour = "{\"another\":1}";
  std::string buffer = neighbour + "\n" + std::string(document) + "\n" + neighbour + "\n";
  const size_t size = buffer.size();
  buffer.append(formats::kJsonPadding, '}');
  const std::string_view lines = std::string_view(buffer).substr(0, size);
  const std::vector<std::string_view> documents = {
      lines.substr(0, neighbour.size()), lines.substr(neighbour.size() + 1, document.size()),
      lines.substr(neighbour.size() + document.size() + 2, neighbour.size())};
  serializer.beginBatch(documents);
  connector::RowBatch batch;
  return finishRow(batch, serializer.serializeFromBatch(1, batch.beginRow()));
}

}  // namespace

absl::StatusOr<std::string> rowOf(const TableSchema& schema, std::string_view document,
                                  const JsonDocumentOptions& options) {
  PENSTOCK_ASSIGN_OR_RETURN(auto serializer, JsonDocumentSerializer::create(schema, options));
  connector::RowBatch batch;
  auto alone = finishRow(batch, serializer->serialize(document, batch.beginRow()));
  auto inBatch = rowFromBatch(*serializer, document);
  if (alone.status() != inBatch.status()) {
    return absl::InternalError("alone: " + base::describe(alone.status()) +
                               "; in a batch: " + base::describe(inBatch.status()));
  }
  if (alone.ok() && *alone != *inBatch) {
    return absl::InternalError("alone: " + toHex(*alone) + "; in a batch: " + toHex(*inBatch));
  }
  return alone;
}

std::string hexRow(const TableSchema& schema, std::string_view document,
                   const JsonDocumentOptions& options) {
  const auto row = rowOf(schema, document, options);
  return row.ok() ? toHex(*row) : std::string(base::messageOf(row.status()));
}

std::string toHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return hex;
}

}  // namespace penstock::bigquery
