#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "penstock/runtime/files/line_index.h"

namespace penstock::runtime {

/// Line numbers within one batch, for messages: counted when someone asks, in one pass when the
/// asking goes in rising order, as it does when many records are bad.
class BatchLines {
 public:
  /// `index`: for plain files; null where the reader counts lines itself.
  explicit BatchLines(LineIndex* index) : index_(index) {}

  /// A new batch, whose first byte is at `begin` in memory and at `offset` in the content.
  /// `linesBefore` counts without an index only.
  void reset(const char* begin, uint64_t offset, uint64_t linesBefore) {
    begin_ = begin;
    offset_ = offset;
    counted_ = begin;
    lines_ = linesBefore;
    linesBefore_ = linesBefore;
    known_ = index_ == nullptr;
  }

  /// "line 17" for a place in the batch; "byte 12345" if the file cannot be read any more.
  [[nodiscard]] std::string describe(const char* place) {
    if (!known_) {
      const auto first = index_->placeOf(offset_);
      if (!first.has_value()) return fmt::format("byte {}", offsetOf(place));
      lines_ = first->line - 1;
      known_ = true;
    }
    if (place < counted_) {
      lines_ -= static_cast<uint64_t>(std::count(place, counted_, '\n'));
    } else {
      lines_ += static_cast<uint64_t>(std::count(counted_, place, '\n'));
    }
    counted_ = place;
    return fmt::format("line {}", lines_ + 1);
  }

  /// Line numbers of the batch for when its bytes are gone.
  class Later {
   public:
    Later(LineIndex* index, uint64_t offset, uint64_t linesBefore)
        : index_(index), offset_(offset), linesBefore_(linesBefore) {}
    /// "line 17" for the line `number` of the batch, from 0.
    [[nodiscard]] std::string describe(uint64_t number) const {
      if (index_ == nullptr) return fmt::format("line {}", linesBefore_ + number + 1);
      const auto first = index_->placeOf(offset_);
      if (first.has_value()) return fmt::format("line {}", first->line + number);
      return fmt::format("line {} behind byte {}", number + 1, offset_);
    }

   private:
    LineIndex* index_;
    uint64_t offset_;
    uint64_t linesBefore_;
  };
  [[nodiscard]] Later later() const { return {index_, offset_, linesBefore_}; }

  [[nodiscard]] uint64_t offsetOf(const char* place) const {
    return offset_ + static_cast<uint64_t>(place - begin_);
  }
  [[nodiscard]] const char* at(uint64_t offset) const { return begin_ + (offset - offset_); }
  [[nodiscard]] uint64_t offset() const { return offset_; }

 private:
  LineIndex* index_;
  const char* begin_ = nullptr;
  uint64_t offset_ = 0;
  uint64_t linesBefore_ = 0;
  const char* counted_ = nullptr;
  uint64_t lines_ = 0;  // line ends before counted_
  bool known_ = false;
};

}  // namespace penstock::runtime
