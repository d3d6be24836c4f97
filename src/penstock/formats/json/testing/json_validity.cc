#include "penstock/formats/json/testing/json_validity.h"

namespace penstock::formats {

std::string JsonValidity::whyInvalid(std::string_view text) {
  // The worst padding: what would go on with the document, another way each time.
  constexpr std::string_view kPadding = "]}\",:1.e0-";
  std::string padded(text);
  ++calls_;
  for (size_t index = 0; index < kJsonPadding; ++index) {
    padded += kPadding[(index + calls_) % kPadding.size()];
  }
  const std::string_view document = std::string_view(padded).substr(0, text.size());
  const IndexError error = index_.build(PaddedText::assumePadded(document));
  if (error != IndexError::kNone) return std::string(describe(error));
  const auto tokens = index_.tokens();
  JsonCursor cursor{document.data(), tokens.data(), tokens.data() + tokens.size()};
  JsonFault fault;
  if (!checker_.check(&cursor, 0, &fault)) return fault.reason;
  return cursor.exhausted() ? "" : "more than one value";
}

}  // namespace penstock::formats
