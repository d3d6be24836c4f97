#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/emulator/catalog/catalog.h"

/// The lines of the catalog's journal. Each is a JSON list that says what changed and, where
/// something came to be, a tab and a JSON object that says how it looks:
/// `["table",7,"p","d","t"]\t{...}`. The list alone tells which tables there are; the object is
/// read when a table is asked for.
namespace penstock::emulator {

[[nodiscard]] std::string datasetLine(const Dataset& dataset);
[[nodiscard]] std::string tableLine(const Table& table);
[[nodiscard]] std::string datasetDropLine(const DatasetReference& reference);
[[nodiscard]] std::string tableDropLine(const TableReference& reference);
[[nodiscard]] std::string lastTableIdLine(uint64_t id);

/// A line taken apart, its object unread.
struct CatalogChange {
  enum class Kind : uint8_t { kDataset, kTable, kDropDataset, kDropTable, kLastTableId };
  Kind kind = Kind::kLastTableId;
  uint64_t tableId = 0;     ///< kTable, kLastTableId
  TableReference table;     ///< its `table` is empty where a dataset changed
  std::string_view object;  ///< points into the line
};

/// kDataLoss when the line is none of these.
[[nodiscard]] absl::StatusOr<CatalogChange> parseChange(std::string_view line);
/// Of a kDataset change.
[[nodiscard]] absl::StatusOr<std::shared_ptr<const Dataset>> readDataset(
    const CatalogChange& change);
/// Of a line that is a kTable change.
[[nodiscard]] absl::StatusOr<std::shared_ptr<const Table>> readTable(std::string_view line);

}  // namespace penstock::emulator
