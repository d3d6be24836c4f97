#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/bigquery/schema/table_schema.h"
#include "penstock/bigquery/table_name.h"
#include "penstock/connector/row_batch.h"
#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// What a serializer did with one record.
enum class Serialized {
  kRow,   ///< its bytes are in the encoder
  kSkip,  ///< written nowhere; a filter, not a failure (BASE-032)
};

/// Turns records into BigQuery rows, for any number of destinations (BQT-009). One instance serves
/// one writer, on its thread. A custom serializer implements this; JsonDocumentSerializationSchema
/// and PreSerializedRows are built in.
template <typename Record>
class BigQueryProtoSerializationSchema {
 public:
  virtual ~BigQueryProtoSerializationSchema() = default;

  /// The columns of a destination, asked before its first record: what a missing table is created
  /// with. None: the table must exist and its own columns are used (BQW-166). An error fails the
  /// job.
  virtual absl::StatusOr<std::optional<TableSchema>> tableSchema(const TableName& table) = 0;

  /// Serialized google.protobuf.DescriptorProto of the rows; empty (the default) = derived from the
  /// columns.
  virtual absl::StatusOr<std::string> descriptor(const TableName&) { return std::string(); }

  /// A number that changes whenever the destination's columns would, asked before `descriptor` and
  /// then for every record, so it must cost next to nothing. None (the default): the columns never
  /// change, nothing more is asked (BQW-025). After a change the columns and the descriptor are
  /// asked for again, everything written before is awaited, and the next row is the first of the
  /// new ones. They must evolve additively: columns at the end, modes relaxed (BQW-031).
  virtual std::optional<uint64_t> schemaFingerprint(const TableName&) { return std::nullopt; }

  /// The destination's columns are known: called before its first record, with tableSchema()'s
  /// answer or what was read from the table, and again before the first record of other columns
  /// (BQW-164). `destination` is what serialize() will name it by.
  virtual absl::Status prepare(connector::DestinationId destination, const TableName& table,
                               const TableSchema* columns) = 0;

  /// Whether serialize() does nothing but copy the record's bytes, always: records that are
  /// std::string_view and written in batches are copied without asking it then.
  [[nodiscard]] virtual bool copiesRecords() const { return false; }

  /// Writes the record's row into `row`. An error concerns this record alone and goes to the
  /// failure handler; what was written before it is discarded.
  virtual absl::StatusOr<Serialized> serialize(const Record& record,
                                               connector::DestinationId destination,
                                               connector::RowEncoder& row) = 0;
};

}  // namespace penstock::bigquery
