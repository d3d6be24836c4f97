#pragma once

#include <map>
#include <string>
#include <string_view>

#include "penstock/base/mutex.h"
#include "penstock/emulator/storage/row_store.h"
#include "penstock/emulator/storage/segment.h"

namespace penstock::emulator {

/// The row descriptors of a data directory, each in one file named by its hash. Thread-safe.
class DescriptorStore {
 public:
  /// `directory` exists.
  explicit DescriptorStore(std::string directory) : directory_(std::move(directory)) {}

  /// The descriptor with these bytes, written when it is new.
  absl::StatusOr<RowDescriptorPtr> intern(std::string_view serialized);
  /// The descriptor that a record names. kDataLoss when its file is missing or not what it was.
  absl::StatusOr<RowDescriptorPtr> find(const DescriptorHash& hash);

 private:
  const std::string directory_;
  base::Mutex mutex_;
  std::map<std::string, RowDescriptorPtr, std::less<>> known_ PENSTOCK_GUARDED_BY(mutex_);
};

/// The hash that a descriptor's id spells.
[[nodiscard]] DescriptorHash hashOf(const RowDescriptor& descriptor);

}  // namespace penstock::emulator
