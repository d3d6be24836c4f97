#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/runtime/files/block_masks.h"

namespace penstock::runtime {

/// Finds where the elements of one JSON array begin and end, in pieces as they are read. Elements
/// are not checked here: whoever takes them parses each strictly. What is checked is all that their
/// boundaries rest on: the array's own brackets and commas, that brackets within an element match,
/// that its strings end on their line and are followed by a blank or one of , : } ]. One missing
/// quote would otherwise turn text into structure and several elements into one.
class ArrayScanner {
 public:
  static constexpr size_t kMaxDepth = 4096;

  /// At the beginning of the content, or behind an element (after a restore).
  explicit ArrayScanner(uint64_t offset, bool behindElement)
      : at_(offset), state_(behindElement ? State::kSeparator : State::kBegin) {}

  enum class Step { kElement, kNeedMore, kEnd };
  /// Looks on in `data`, whose first byte has offset `dataOffset` (at most at()) in the content; 64
  /// bytes behind it must be readable. `last`: nothing follows. INVALID_ARGUMENT for a broken
  /// frame, about the byte at errorAt().
  [[nodiscard]] absl::StatusOr<Step> next(const char* data, uint64_t dataOffset, size_t size,
                                          bool last);

  /// Of the element being read or, after kElement, read.
  [[nodiscard]] uint64_t elementBegin() const { return elementBegin_; }
  [[nodiscard]] uint64_t elementEnd() const { return at_; }
  [[nodiscard]] bool inElement() const {
    return state_ == State::kContainer || state_ == State::kString || state_ == State::kLiteral;
  }
  /// The next byte to look at.
  [[nodiscard]] uint64_t at() const { return at_; }
  /// The offset that the error of `next` is about.
  [[nodiscard]] uint64_t errorAt() const { return errorAt_; }

 private:
  enum class State {
    kBegin,       // before [
    kFirstOrEnd,  // an element or ]
    kElement,     // an element, after a comma
    kContainer,   // inside an element that is an object or array
    kString,      // inside one that is a string
    kLiteral,     // inside one that is a number, true, false, null, or anything else
    kSeparator,   // , or ]
    kAfterEnd,    // nothing but blanks
  };

  struct Nesting {
    size_t depth = 0;
    std::array<uint64_t, kMaxDepth / 64> openBraces = {};  // one bit a level: { or [
  };

  /// Handles the byte at at_, which is not blank.
  absl::Status betweenElements(char c);
  absl::Status beginElement(char c);
  absl::Status broken(uint64_t where, std::string_view message);
  absl::Status endedEarly();

  // Each returns true when the element's end was found, at_ then being behind it.
  absl::StatusOr<bool> scanContainer(const char* data, uint64_t dataOffset, size_t size);
  absl::StatusOr<bool> scanString(const char* data, uint64_t dataOffset, size_t size);
  absl::StatusOr<bool> scanLiteral(const char* data, uint64_t dataOffset, size_t size);
  absl::StatusOr<bool> followBrackets(const char* data, uint64_t dataOffset, uint64_t blockBegin,
                                      uint64_t brackets);
  /// The classes of the block that at_ is in.
  const BlockMasks& masksAt(const char* data, uint64_t dataOffset, uint64_t end);

  uint64_t at_;
  uint64_t errorAt_ = 0;
  uint64_t elementBegin_ = 0;
  State state_;
  // Within an element:
  bool inString_ = false;
  bool escaped_ = false;      // the byte at at_ is
  bool stringEnded_ = false;  // the byte before at_ ended a string
  Nesting nesting_;
  Nesting nestingBefore_;  // the part of a block that is looked at again

  // Blocks that are classified: not bound to elements, since short ones share a block.
  std::array<BlockMasks, 16> masks_;
  uint64_t masksBegin_ = 0;
  size_t maskBlocks_ = 0;
};

}  // namespace penstock::runtime
