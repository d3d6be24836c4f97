#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/metrics.h"
#include "penstock/base/random.h"
#include "penstock/bigquery/sink/append_pool.h"
#include "penstock/bigquery/sink/buffer_account.h"
#include "penstock/bigquery/sink/sink_options.h"
#include "penstock/bigquery/sink/table_admin.h"
#include "penstock/connector/row_batch_pool.h"
#include "penstock/connector/writer_core.h"

namespace penstock::bigquery {

/// What a writer knows of a table before its first row.
struct DestinationSetup {
  TableName table;
  /// Physical schema, for creating the table and, without `descriptor`, for laying out rows. With
  /// neither, the schema is read from the table itself (BQW-166).
  std::optional<TableSchema> schema;
  /// Serialized google.protobuf.DescriptorProto of the rows; empty = derived from the schema.
  std::string descriptor;
  /// A missing table is created with what the host answers to Question::kCreateOptions, instead of
  /// the sink's own options.
  bool askForCreateOptions = false;
  /// With a schema that is read from the table: columns added there while the writer runs are used,
  /// once the host has answered Question::kNewSchema.
  bool followTable = false;
  /// Where the record stands that the table came up with, for messages: "a.jsonl line 17". Empty:
  /// not known, or it does not depend on the record.
  std::string origin;
};

/// What destinations share, and where their requests go; implemented by the writer. All on the task
/// thread.
class DestinationHost {
 public:
  virtual ~DestinationHost() = default;

  // Actions; their results come back as events of the destination.
  virtual void getWriteStream(connector::DestinationId destination, const std::string& stream,
                              bool fullView) = 0;
  virtual void createTable(connector::DestinationId destination, const TableName& table,
                           const TableSchema& schema, const TableCreateOptions& options) = 0;
  virtual void readTable(connector::DestinationId destination, const TableName& table) = 0;
  virtual void updateSchema(connector::DestinationId destination, const TableName& table,
                            const std::string& etag, const std::string& schemaJson) = 0;
  /// Routes failed records; the destination pauses until onAnswer.
  virtual void askAbout(connector::DestinationId destination,
                        std::vector<connector::FailedRecord> failures) = 0;
  /// Another question about the destination, which pauses until onAnswer.
  virtual void ask(connector::DestinationId destination, connector::Question::Kind kind) = 0;
  /// The first error is captured and ends the writer.
  virtual void fail(absl::Status status) = 0;
  /// Whether an error was captured: nothing new is begun then.
  [[nodiscard]] virtual bool failed() const = 0;
  /// Poll this destination until it no longer needs it.
  virtual void needsAttention(connector::DestinationId destination) = 0;
  virtual void countFailedAppend(const absl::Status& status) = 0;

  struct Shared {
    const SinkOptions* options = nullptr;
    AppendPool* pool = nullptr;
    uint32_t writer = 0;
    connector::RowBatchPool* batches = nullptr;
    base::Clock* clock = nullptr;
    base::Random* random = nullptr;
    bool emulator = false;      ///< an emulator endpoint is configured (BQW-193)
    std::string missingValues;  ///< fields of each request (BQW-194)
    base::Counter* recordsSend = nullptr;
    base::Counter* bytesSend = nullptr;
    base::Counter* appendRetries = nullptr;
    base::Counter* tablesCreated = nullptr;
    base::Counter* schemaReconciliations = nullptr;
    base::Gauge* inFlightBatches = nullptr;
    base::Gauge* openDestinations = nullptr;
    BufferAccount* buffers = nullptr;
    base::MetricGroup* metrics = nullptr;
  };
  [[nodiscard]] virtual const Shared& shared() const = 0;
};

}  // namespace penstock::bigquery
