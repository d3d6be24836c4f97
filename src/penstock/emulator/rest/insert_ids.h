#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::emulator {

/// The `insertId`s of rows that tabledata.insertAll took lately, by which a request that is sent
/// again adds nothing: for a minute and up to a number of rows, as much as the service promises.
/// Lost at the end of the process. Thread-safe.
class InsertIds {
 public:
  explicit InsertIds(size_t capacity = 100000) : capacity_(capacity) {}

  /// False when the table took a row of this id within the last minute; else the id is remembered.
  bool remember(uint64_t table, std::string_view id, int64_t nowMillis);
  /// For a row that could not be stored after all.
  void forget(uint64_t table, std::string_view id);

 private:
  static std::string keyOf(uint64_t table, std::string_view id);

  const size_t capacity_;
  base::Mutex mutex_;
  std::unordered_map<std::string, int64_t> expiries_ PENSTOCK_GUARDED_BY(mutex_);
  std::deque<std::pair<std::string, int64_t>> order_ PENSTOCK_GUARDED_BY(mutex_);  ///< oldest first
};

}  // namespace penstock::emulator
