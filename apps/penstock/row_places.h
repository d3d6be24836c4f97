#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "penstock/connector/row_batch.h"
#include "penstock/runtime/record_batch.h"

namespace penstock::command {

/// Where the rows of one subtask came from, until they are settled: what the service refuses long
/// after it was read is still reported with its file and line. Task thread only; describes while
/// the source lives.
class RowPlaces {
 public:
  /// Batches of records that are remembered at most, far more than can be unsettled: the oldest go.
  static constexpr size_t kMostBatches = 65536;

  /// The origin of the batch's first record; the others' follow it.
  connector::RowOrigin add(const runtime::RecordBatch& batch);
  /// "flights.json line 17"; empty for an origin that is not known, or no longer.
  [[nodiscard]] std::string describe(connector::RowOrigin origin) const;
  /// Everything added is acknowledged or failed.
  void settled();

 private:
  // An origin is the batch's number, from 1, in the upper half and the record's in the lower.
  uint64_t firstBatch_ = 1;
  std::deque<std::function<std::string(size_t)>> batches_;
};

}  // namespace penstock::command
