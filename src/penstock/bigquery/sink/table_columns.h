#pragma once

#include <optional>
#include <string>

#include "penstock/bigquery/sink/destination_context.h"

namespace penstock::bigquery {

/// Where a destination's columns come from when nobody gave any, and how they become others while
/// rows are written (BQW-163, BQW-166): read from the table before the first row, and replaced
/// between two rows by what the serializer or the table says then. Task thread only.
class TableColumns {
 public:
  struct Change {
    std::optional<TableSchema> schema;
    std::string descriptor;  ///< empty: follows from the schema
    bool tellHost = false;   ///< what writes the rows does not know of it yet
  };

  explicit TableColumns(DestinationContext& context) : context_(context) {}

  /// Before the first row. True: they are being read, no row can be taken yet.
  bool start();
  [[nodiscard]] bool isReading() const { return reading_; }
  /// The answer to the reading. An error that does not pass fails the writer.
  void onRead(absl::StatusOr<WriteStreamInfo> info);
  void advance();
  [[nodiscard]] base::MonotonicTime wakeAt() const { return retryAt_; }

  /// Rows have other columns from the next one on.
  void change(std::optional<TableSchema> schema, std::string descriptor) {
    change_ = Change{std::move(schema), std::move(descriptor), /*tellHost=*/false};
  }
  /// An answer says so of the table; counts only for those that follow it. `serialized`: a
  /// TableSchema of the Storage Write API.
  void noteUpdated(const std::string& serialized);
  void note(TableSchema schema);
  /// A change that waits until all rows before it have landed.
  [[nodiscard]] bool isChanging() const { return change_.has_value(); }
  [[nodiscard]] Change takeChange() { return *std::exchange(change_, std::nullopt); }

 private:
  void read();

  DestinationContext& context_;
  bool reading_ = false;
  int attempt_ = 1;
  base::MonotonicTime retryAt_ = base::kNever;
  std::optional<Change> change_;
};

}  // namespace penstock::bigquery
