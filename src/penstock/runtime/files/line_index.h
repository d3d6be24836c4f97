#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "penstock/base/mutex.h"
#include "penstock/runtime/input_file.h"

namespace penstock::runtime {

/// A place in a text file, both from 1; the column counts bytes.
struct TextPlace {
  uint64_t line = 0;
  uint64_t column = 0;
};

/// Line numbers of a plain file by byte offset, counted by reading the file when someone asks:
/// readers that start in its middle need not know them. Remembers what it counted, so that many
/// errors cost one pass. Thread-safe.
class LineIndex {
 public:
  explicit LineIndex(const InputFile& file) : file_(file) {}

  /// None if the file cannot be read any more.
  [[nodiscard]] std::optional<TextPlace> placeOf(uint64_t offset);

 private:
  struct Anchor {
    uint64_t line = 1;
    uint64_t lineBegin = 0;
  };

  const InputFile& file_;
  base::Mutex mutex_;
  std::map<uint64_t, Anchor> anchors_ PENSTOCK_GUARDED_BY(mutex_) = {{0, Anchor()}};
};

}  // namespace penstock::runtime
