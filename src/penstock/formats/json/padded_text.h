#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::formats {

/// JSON is read in blocks: so many bytes behind a text must be readable. Their value does not
/// matter.
inline constexpr size_t kJsonPadding = 64;

/// A text with at least `kJsonPadding` readable bytes behind its last one: a line inside a larger
/// buffer whose owner keeps that much room at its end, for instance. Does not own the bytes.
class PaddedText {
 public:
  constexpr PaddedText() = default;

  /// The caller vouches for the padding: nothing can check it.
  [[nodiscard]] static constexpr PaddedText assumePadded(std::string_view text) {
    return PaddedText(text);
  }

  [[nodiscard]] constexpr std::string_view view() const { return text_; }
  [[nodiscard]] constexpr const char* data() const { return text_.data(); }
  [[nodiscard]] constexpr size_t size() const { return text_.size(); }
  [[nodiscard]] constexpr bool empty() const { return text_.empty(); }

 private:
  explicit constexpr PaddedText(std::string_view text) : text_(text) {}

  std::string_view text_;
};

}  // namespace penstock::formats
