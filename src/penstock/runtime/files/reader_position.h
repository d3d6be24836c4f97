#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::runtime {

/// Where a reader of one split stands: always between two records.
struct ReaderPosition {
  uint64_t offset = 0;    ///< of the next byte, in the uncompressed content
  uint64_t elements = 0;  ///< of the array that are behind
  uint64_t lines =
      0;  ///< line ends before `offset`; counted only where the file cannot be reread cheaply

  /// "offset/elements/lines".
  [[nodiscard]] std::string toText() const;
  [[nodiscard]] static absl::StatusOr<ReaderPosition> parse(std::string_view text);
};

/// A part of an input: a file, and of a plain newline-delimited one the lines that begin in a byte
/// range.
struct FileSplit {
  size_t file = 0;  ///< index
  uint64_t begin = 0;
  uint64_t end = UINT64_MAX;

  /// "file", or "file:begin-end" for a range.
  [[nodiscard]] std::string toText() const;
  [[nodiscard]] static absl::StatusOr<FileSplit> parse(std::string_view text);
};

}  // namespace penstock::runtime
