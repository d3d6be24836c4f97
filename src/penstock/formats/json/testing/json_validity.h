#pragma once

#include <string>
#include <string_view>

#include "penstock/formats/json/structural_index.h"
#include "penstock/formats/json/value_checker.h"

namespace penstock::formats {

/// Checks that a text is one JSON value and nothing else, the way a serializer walks documents. For
/// tests.
class JsonValidity {
 public:
  JsonValidity() = default;
  /// See StructuralIndex.
  explicit JsonValidity(std::string_view implementation) : index_(implementation) {}

  /// Empty: valid. Otherwise why not.
  [[nodiscard]] std::string whyInvalid(std::string_view text);

 private:
  StructuralIndex index_;
  ValueChecker checker_;
  size_t calls_ = 0;
};

}  // namespace penstock::formats
