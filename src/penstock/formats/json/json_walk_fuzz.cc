// Any text: this walk, on every implementation of the structural index, and another library agree
// on whether it is JSON; lines in a batch are judged like documents alone. Memory in front of and
// behind the promised padding belongs to the sanitizer.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/formats/json/json_batch.h"
#include "penstock/formats/json/structural_index.h"
#include "penstock/formats/json/value_checker.h"

namespace penstock::formats {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// A text with exactly the padding that is promised, of bytes that would go on with a document.
class ExactlyPadded {
 public:
  explicit ExactlyPadded(std::string_view text)
      : size_(text.size()), bytes_(new char[text.size() + kJsonPadding]) {
    text.copy(bytes_.get(), text.size());
    for (size_t index = 0; index < kJsonPadding; ++index) {
      bytes_[size_ + index] = "]}\",:1.e"[index % 8];
    }
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  size_t size_;
  std::unique_ptr<char[]> bytes_;
};

enum class Verdict { kJson, kNotJson, kOtherRule };

/// What the other library says; numbers beyond the doubles stop it.
Verdict judgeElsewhere(std::string_view text) {
  // It skips a byte-order mark, which RFC 8259 leaves to the application.
  if (text.starts_with("\xEF\xBB\xBF")) return Verdict::kNotJson;
  // It takes a NUL byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) return Verdict::kNotJson;
  try {
    const bool isDiscarded = nlohmann::json::parse(text).is_discarded();
    return isDiscarded ? Verdict::kNotJson : Verdict::kJson;
  } catch (const nlohmann::json::out_of_range&) {
    return Verdict::kOtherRule;
  } catch (const nlohmann::json::exception&) {
    return Verdict::kNotJson;
  }
}

/// What the walk says: duplicate keys and depth are rules that the other library does not have.
Verdict judge(JsonCursor cursor, IndexError error, std::string_view text) {
  if (error != IndexError::kNone) return Verdict::kNotJson;
  ValueChecker checker;
  JsonFault fault;
  if (!checker.check(&cursor, 0, &fault)) {
    const std::string_view reason = fault.reason;
    const bool isOtherRule =
        reason == "a key stands twice in one object" || reason == "nested deeper than 512 levels";
    return isOtherRule ? Verdict::kOtherRule : Verdict::kNotJson;
  }
  const char* const end = text.data() + text.size();
  const bool isWhole = cursor.text + cursor.next[-1] < end && cursor.at() >= end;
  return isWhole ? Verdict::kJson : Verdict::kNotJson;
}

void checkAlone(std::string_view text) {
  static const std::vector<std::string> kImplementations = StructuralIndex::implementations();
  const ExactlyPadded padded(text);
  const Verdict expected = judgeElsewhere(text);
  Verdict first = Verdict::kOtherRule;
  for (const std::string& implementation : kImplementations) {
    StructuralIndex index(implementation);
    const IndexError error = index.build(PaddedText::assumePadded(padded.view()));
    const auto tokens = index.tokens();
    const JsonCursor cursor{padded.view().data(), tokens.data(), tokens.data() + tokens.size()};
    const Verdict verdict = judge(cursor, error, padded.view());
    if (implementation == kImplementations.front()) first = verdict;
    // Of several faults each implementation may see another one first.
    require((verdict == Verdict::kJson) == (first == Verdict::kJson));
    if (verdict != Verdict::kOtherRule && expected != Verdict::kOtherRule) {
      require(verdict == expected);
    }
  }
}

void checkBatch(std::string_view text) {
  const ExactlyPadded padded(text);
  std::vector<std::string_view> lines;
  for (std::string_view rest = padded.view(); !rest.empty();) {
    const size_t feed = rest.find('\n');
    lines.push_back(rest.substr(0, feed));
    rest.remove_prefix(feed == std::string_view::npos ? rest.size() : feed + 1);
  }
  JsonBatch batch;
  batch.reset(lines);
  StructuralIndex index;
  for (size_t line = 0; line < lines.size(); ++line) {
    JsonCursor cursor;
    bool isIsolated = false;
    IndexError error = batch.locate(line, &cursor, &isIsolated);
    const Verdict together = judge(cursor, error, lines[line]);
    const ExactlyPadded alone(lines[line]);
    error = index.build(PaddedText::assumePadded(alone.view()));
    const auto tokens = index.tokens();
    cursor = {alone.view().data(), tokens.data(), tokens.data() + tokens.size()};
    const Verdict expected = judge(cursor, error, alone.view());
    // A line that is taken well in a batch is taken well alone, and the other way round.
    require((together == Verdict::kJson) == (expected == Verdict::kJson));
  }
}

}  // namespace
}  // namespace penstock::formats

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  penstock::formats::checkAlone(text);
  penstock::formats::checkBatch(text);
  return 0;
}
