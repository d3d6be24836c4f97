#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "penstock/bigquery/sink/append_call.h"
#include "penstock/bigquery/sink/stream_admin.h"

namespace penstock::simulation {

/// A BUFFERED stream.
struct SimulatedStream {
  std::string name;
  std::string table;
  std::vector<std::string> rows;
  size_t visible = 0;  ///< rows from the start that have been flushed
  /// Appends are refused with it; what is there can still be flushed.
  bigquery::StorageErrorCode broken = bigquery::StorageErrorCode::kNone;
  std::map<int64_t, int> writes;  ///< requests that were sent, by offset
};

struct SimulatedTable {
  std::map<std::string, int> rows;    ///< visible ones, and how many times each is there
  base::MonotonicTime visibleAt{};    ///< denied before
  int deniedFlushes = 0;              ///< the next so many
  bool lacksColumn = false;           ///< that all rows have
  base::MonotonicTime columnKnown{};  ///< rows that have it are refused before
};

/// Tables, their default streams and BUFFERED streams, as BigQuery keeps them: the rules alone,
/// without time, connections or faults. A row is its own text; one that begins with "bad" is
/// refused, and with it its request.
class SimulatedTables {
 public:
  /// A row can be read by everyone.
  using OnVisible = std::function<void(const std::string& row)>;
  void setOnVisible(OnVisible onVisible) { onVisible_ = std::move(onVisible); }

  SimulatedTable& createTable(const std::string& resource) { return tables_[resource]; }
  SimulatedTable* find(const std::string& resource);
  SimulatedStream& createStream(const std::string& table);
  SimulatedStream* findStream(const std::string& name);
  [[nodiscard]] std::map<std::string, SimulatedStream>& streams() { return streams_; }

  /// Errors of rows are looked for before the offset is; the service's order is not documented.
  void checkRowsFirst() { rowsFirst_ = true; }

  /// To the default stream.
  bigquery::AppendResponse append(SimulatedTable& table, const std::vector<std::string>& rows);
  bigquery::AppendResponse append(SimulatedStream& stream, int64_t offset,
                                  const std::vector<std::string>& rows);
  bigquery::StreamError flush(SimulatedStream& stream, int64_t offset);

 private:
  void show(SimulatedTable& table, const std::string& row);

  OnVisible onVisible_;
  std::map<std::string, SimulatedTable> tables_;
  std::map<std::string, SimulatedStream> streams_;
  bool rowsFirst_ = false;
};

}  // namespace penstock::simulation
