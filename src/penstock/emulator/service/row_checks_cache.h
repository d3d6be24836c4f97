#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "penstock/base/mutex.h"
#include "penstock/emulator/catalog/catalog.h"
#include "penstock/emulator/service/row_validator.h"
#include "penstock/emulator/storage/row_store.h"

namespace penstock::emulator {

/// Checks that were compiled lately, so that a connection which switches between tables with every
/// request compiles none twice. Thread-safe.
class RowChecksCache {
 public:
  explicit RowChecksCache(size_t capacity = 1024) : capacity_(capacity) {}

  /// The checks for rows of this descriptor in this table. kInvalidArgument when the descriptor is
  /// not one or does not go with the table's columns.
  absl::StatusOr<std::shared_ptr<const RowChecks>> find(const RowDescriptor& descriptor,
                                                        const Table& table);

 private:
  using Key = std::tuple<std::string, uint64_t, uint64_t>;  ///< descriptor, table, schema version
  struct Entry {
    std::shared_ptr<const RowChecks> checks;
    std::list<Key>::iterator use;
  };

  const size_t capacity_;
  base::Mutex mutex_;
  std::map<Key, Entry> entries_ PENSTOCK_GUARDED_BY(mutex_);
  std::list<Key> uses_ PENSTOCK_GUARDED_BY(mutex_);  ///< the latest first
};

}  // namespace penstock::emulator
