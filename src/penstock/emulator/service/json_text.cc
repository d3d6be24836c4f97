#include "penstock/emulator/service/json_text.h"

#include <bitset>
#include <cstddef>

#include "penstock/base/text.h"
#include "penstock/emulator/rows/utf8.h"

namespace penstock::emulator {
namespace {

constexpr size_t kMaxJsonDepth = 500;

using base::isDigit;

bool isHexDigit(char character) {
  return isDigit(character) || (character >= 'a' && character <= 'f') ||
         (character >= 'A' && character <= 'F');
}

/// Walks a document without recursion: which of the open brackets are braces is all that it keeps.
class Walk {
 public:
  explicit Walk(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool isDocument() {
    for (;;) {
      if (!takeValue()) return false;
      if (opened_) {
        opened_ = false;
        continue;  // the first value in what was opened
      }
      if (!takeWhatFollows()) return false;
      if (depth_ == 0) return at_ == end_;
    }
  }

 private:
  void skipSpace() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char expected) {
    if (at_ == end_ || *at_ != expected) return false;
    ++at_;
    return true;
  }
  bool takeWord(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size() ||
        std::string_view(at_, word.size()) != word) {
      return false;
    }
    at_ += word.size();
    return true;
  }
  bool takeDigits() {
    const char* const start = at_;
    while (at_ != end_ && isDigit(*at_)) ++at_;
    return at_ != start;
  }

  /// A scalar, an empty object or array, or the head of one up to its first value.
  bool takeValue() {
    skipSpace();
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        ++at_;
        skipSpace();
        if (take('}')) return true;
        return open(/*isObject=*/true) && takeKey();
      case '[':
        ++at_;
        skipSpace();
        return take(']') || open(/*isObject=*/false);
      case '"':
        return takeString();
      case 't':
        return takeWord("true");
      case 'f':
        return takeWord("false");
      case 'n':
        return takeWord("null");
      default:
        return takeNumber();
    }
  }

  bool open(bool isObject) {
    if (depth_ == kMaxJsonDepth) return false;
    isObject_[depth_++] = isObject;
    opened_ = true;
    return true;
  }

  /// Behind a value: closing brackets, then a comma with the next key where one is due.
  bool takeWhatFollows() {
    for (;;) {
      skipSpace();
      if (depth_ == 0) return true;
      const bool inObject = isObject_[depth_ - 1];
      if (take(',')) return !inObject || takeKey();
      if (!take(inObject ? '}' : ']')) return false;
      --depth_;
    }
  }

  bool takeKey() {
    skipSpace();
    if (at_ == end_ || *at_ != '"' || !takeString()) return false;
    skipSpace();
    return take(':');
  }

  bool takeString() {
    for (++at_; at_ != end_; ++at_) {
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte == '"') {
        ++at_;
        return true;
      }
      if (byte < 0x20) return false;
      if (byte == '\\' && !takeEscape()) return false;
    }
    return false;
  }

  /// Stands on the backslash, then on the escape's last character.
  bool takeEscape() {
    constexpr std::string_view kSimple = "\"\\/bfnrt";
    if (++at_ == end_) return false;
    if (*at_ != 'u') return kSimple.find(*at_) != std::string_view::npos;
    for (int digit = 0; digit < 4; ++digit) {
      if (++at_ == end_ || !isHexDigit(*at_)) return false;
    }
    return true;
  }

  bool takeNumber() {
    take('-');
    if (!take('0') && !takeDigits()) return false;
    if (take('.') && !takeDigits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return takeDigits();
    }
    return true;
  }

  const char* at_;
  const char* const end_;
  std::bitset<kMaxJsonDepth> isObject_;
  size_t depth_ = 0;
  bool opened_ = false;
};

}  // namespace

bool isJsonText(std::string_view text) { return isValidUtf8(text) && Walk(text).isDocument(); }

}  // namespace penstock::emulator
