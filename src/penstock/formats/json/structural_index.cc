#include "penstock/formats/json/structural_index.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace penstock::formats {
namespace {

// simdjson's own layout: the index has room for the rounded capacity and nine more entries.
constexpr size_t kBlockBytes = 64;
constexpr size_t kSmallestCapacity = 4096;
constexpr size_t kLargestText = 0xFFFF'FF00;

const simdjson::implementation* findImplementation(std::string_view name) {
  for (const simdjson::implementation* candidate : simdjson::get_available_implementations()) {
    if (candidate->name() == name) return candidate;
  }
  return nullptr;
}

}  // namespace

/// simdjson's parser object of the chosen implementation; of its two stages only the first is used.
class StructuralIndex::Parser {
 public:
  explicit Parser(const simdjson::implementation* implementation)
      : implementation_(implementation) {}

  bool makeRoom(size_t bytes) {
    if (implementation_ == nullptr) return false;
    if (parser_ != nullptr && parser_->capacity() >= bytes) return true;
    const size_t doubled = parser_ == nullptr ? kSmallestCapacity : parser_->capacity() * 2;
    const size_t capacity = std::max((bytes + kBlockBytes) / kBlockBytes * kBlockBytes, doubled);
    // Stage 1 keeps no depth; one level keeps the part for stage 2 small.
    if (parser_ == nullptr) {
      return implementation_->create_dom_parser_implementation(capacity, 1, parser_) ==
             simdjson::SUCCESS;
    }
    return parser_->allocate(capacity, 1) == simdjson::SUCCESS;
  }

  simdjson::internal::dom_parser_implementation& operator*() { return *parser_; }

 private:
  const simdjson::implementation* implementation_;
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
};

StructuralIndex::StructuralIndex()
    : parser_(std::make_unique<Parser>(simdjson::get_active_implementation())) {}

StructuralIndex::StructuralIndex(std::string_view implementation)
    : parser_(std::make_unique<Parser>(findImplementation(implementation))) {}

StructuralIndex::~StructuralIndex() = default;
StructuralIndex::StructuralIndex(StructuralIndex&&) noexcept = default;
StructuralIndex& StructuralIndex::operator=(StructuralIndex&&) noexcept = default;

std::vector<std::string> StructuralIndex::implementations() {
  std::vector<std::string> names;
  for (const simdjson::implementation* candidate : simdjson::get_available_implementations()) {
    if (candidate->supported_by_runtime_system()) names.push_back(candidate->name());
  }
  return names;
}

IndexError StructuralIndex::build(PaddedText text) {
  count_ = 0;
  if (text.empty()) return IndexError::kEmpty;
  if (text.size() > kLargestText || !parser_->makeRoom(text.size())) return IndexError::kTooLarge;
  auto& parser = **parser_;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const simdjson::error_code error =
      parser.stage1(bytes, text.size(), simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS:
      break;
    case simdjson::EMPTY:
      return IndexError::kEmpty;
    case simdjson::UNCLOSED_STRING:
      return IndexError::kUnclosedString;
    case simdjson::UNESCAPED_CHARS:
      return IndexError::kControlCharacter;
    case simdjson::UTF8_ERROR:
      return IndexError::kInvalidUtf8;
    default:
      return IndexError::kTooLarge;
  }
  count_ = parser.n_structural_indexes;
  uint32_t* tokens = parser.structural_indexes.get();
  std::fill_n(tokens + count_, kSentinels, static_cast<uint32_t>(text.size()));
  tokens_ = tokens;
  return IndexError::kNone;
}

std::string_view describe(IndexError error) {
  switch (error) {
    case IndexError::kNone:
      return "no error";
    case IndexError::kEmpty:
      return "the document is empty";
    case IndexError::kUnclosedString:
      return "a string is not closed";
    case IndexError::kControlCharacter:
      return "a control character (below 0x20) inside a string, which JSON wants escaped";
    case IndexError::kInvalidUtf8:
      return "invalid UTF-8";
    case IndexError::kTooLarge:
      return "the document is too large";
  }
  return "";
}

namespace {

/// Bytes of the well-formed UTF-8 sequence at the head of `text`; 0 if there is none.
size_t utf8SequenceSize(std::string_view text) {
  const auto byteAt = [text](size_t index) { return static_cast<uint8_t>(text[index]); };
  const auto continues = [&](size_t index, uint8_t low = 0x80, uint8_t high = 0xBF) {
    return index < text.size() && byteAt(index) >= low && byteAt(index) <= high;
  };
  const uint8_t lead = byteAt(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    // No overlong form (E0), no surrogate (ED).
    const uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    // No overlong form (F0), nothing beyond U+10FFFF (F4).
    const uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

size_t findInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t size = utf8SequenceSize(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return at;
}

}  // namespace penstock::formats
