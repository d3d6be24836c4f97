#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/formats/json/padded_text.h"

namespace penstock::formats {

/// Why a text has no structural index.
enum class IndexError {
  kNone,
  kEmpty,             ///< nothing but whitespace
  kUnclosedString,    ///< the text ends inside a string
  kControlCharacter,  ///< a byte below 0x20 inside a string: a newline, for instance
  kInvalidUtf8,
  kTooLarge,  ///< 4 GiB or more, or no memory for the index
};

/// Where the tokens of a JSON text begin: every bracket, colon and comma outside strings, every
/// opening quote and every first byte of another scalar. Building it checks UTF-8, control
/// characters in strings and closed strings, and nothing else: what the tokens are and whether they
/// may stand there is the walk's business.
///
/// The work is done by the code that fits the processor (AVX-512, AVX2, SSE4.2 or portable), chosen
/// at run time. Keeps its memory between texts. One thread at a time.
class StructuralIndex {
 public:
  StructuralIndex();
  /// One of `implementations()`: for tests; the default is the best that the processor can run.
  explicit StructuralIndex(std::string_view implementation);
  ~StructuralIndex();
  StructuralIndex(StructuralIndex&&) noexcept;
  StructuralIndex& operator=(StructuralIndex&&) noexcept;

  /// Names of the implementations that this processor can run.
  [[nodiscard]] static std::vector<std::string> implementations();

  /// Indexes one text, which may hold several values one after the other.
  [[nodiscard]] IndexError build(PaddedText text);

  /// Offsets of the tokens, ascending; valid until the next build. `kSentinels` further entries
  /// behind the last one are readable and hold the text's size.
  [[nodiscard]] std::span<const uint32_t> tokens() const { return {tokens_, count_}; }

  static constexpr size_t kSentinels = 6;

 private:
  class Parser;

  std::unique_ptr<Parser> parser_;
  const uint32_t* tokens_ = nullptr;
  size_t count_ = 0;
};

/// What to tell a person about `error`: "invalid UTF-8".
[[nodiscard]] std::string_view describe(IndexError error);

/// Offset of the first byte that does not belong to valid UTF-8; text.size() if all do.
[[nodiscard]] size_t findInvalidUtf8(std::string_view text);

}  // namespace penstock::formats
