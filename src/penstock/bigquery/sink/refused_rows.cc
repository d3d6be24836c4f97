#include "penstock/bigquery/sink/refused_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace penstock::bigquery {

bool takeRefusedRows(const DestinationContext& context, const AppendOutcome& outcome,
                     SealedBatch& batch, std::vector<connector::FailedRecord>& failures) {
  std::vector<const RowError*> sorted;
  for (const RowError& error : outcome.response.rowErrors) sorted.push_back(&error);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RowError* a, const RowError* b) { return a->index < b->index; });
  std::vector<size_t> refused;
  std::vector<const RowError*> errors;
  for (const RowError* error : sorted) {
    if (error->index < 0 || static_cast<size_t>(error->index) >= batch->rowCount()) continue;
    const auto index = static_cast<size_t>(error->index);
    if (!refused.empty() && refused.back() == index) continue;  // one verdict a row
    refused.push_back(index);
    errors.push_back(error);
  }
  if (refused.empty()) return false;
  size_t next = 0;
  batch->forEachRow([&](size_t index, std::string_view row) {
    if (next == refused.size() || refused[next] != index) return;
    connector::FailedRecord failure = context.failedRecord(row, batch->originOf(index));
    failure.errorMessage = errors[next++]->message;
    failure.cause = outcome.response.status;
    failures.push_back(std::move(failure));
  });
  if (refused.size() == batch->rowCount()) {
    batch = {};
    return true;
  }
  std::shared_ptr<connector::RowBatch> survivors = context.shared().batches->acquire();
  batch->copyRowsTo(*survivors, refused);
  batch = SealedBatch(std::move(survivors), *context.shared().buffers);
  return true;
}

}  // namespace penstock::bigquery
