#pragma once

#include <string_view>

namespace penstock::bigquery {

/// What a value parser answers: success, or why the text was refused. The reason is a string
/// literal, so a refused value costs no allocation; the caller adds the path, the column type and
/// the value.
class [[nodiscard]] ParseResult {
 public:
  constexpr ParseResult() = default;
  /// `reason` must be a string literal that completes "root.a: ...".
  constexpr explicit ParseResult(const char* reason) : reason_(reason) {}

  [[nodiscard]] constexpr bool ok() const { return reason_ == nullptr; }
  /// Why the text was refused; empty on success.
  [[nodiscard]] constexpr std::string_view reason() const {
    return ok() ? std::string_view() : std::string_view(reason_);
  }

 private:
  const char* reason_ = nullptr;
};

}  // namespace penstock::bigquery
