#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::runtime {

/// What ArrayScanner must find in a text, worked out one byte at a time and without regard for
/// speed.
class ReferenceArrayScan {
 public:
  explicit ReferenceArrayScan(std::string_view text) : text_(text) { run(); }

  std::vector<std::pair<uint64_t, uint64_t>> elements;  ///< begin and end of each
  bool broken = false;
  uint64_t errorAt = 0;

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  [[nodiscard]] bool atEnd() const { return at_ == text_.size(); }
  void fail(uint64_t where) {
    broken = true;
    errorAt = where;
  }
  void skipBlanks() {
    while (!atEnd() && blank(text_[at_])) ++at_;
  }

  void run() {
    skipBlanks();
    if (atEnd() || text_[at_] != '[') return fail(at_);
    ++at_;
    skipBlanks();
    if (!atEnd() && text_[at_] == ']') return end();
    while (true) {
      skipBlanks();
      if (atEnd()) return fail(at_);
      const uint64_t begin = at_;
      if (std::string_view(",]}:").find(text_[at_]) != std::string_view::npos) return fail(at_);
      if (!skipElement()) return;
      elements.emplace_back(begin, at_);
      skipBlanks();
      if (atEnd()) return fail(at_);
      if (text_[at_] == ']') return end();
      if (text_[at_] != ',') return fail(at_);
      ++at_;
    }
  }

  void end() {
    ++at_;
    skipBlanks();
    if (!atEnd()) fail(at_);
  }

  bool skipElement() {
    const uint64_t begin = at_;
    const char first = text_[at_];
    bool complete = false;
    if (first == '{' || first == '[') {
      complete = skipContainer();
    } else if (first == '"') {
      complete = skipString();
    } else {
      complete = skipLiteral();
    }
    if (!complete && !broken) fail(begin);  // the text ends inside
    return complete;
  }

  bool skipLiteral() {
    for (; !atEnd(); ++at_) {
      const char c = text_[at_];
      if (blank(c) || c == ',' || c == ']') return true;
      if (std::string_view("\"{[}:").find(c) != std::string_view::npos) {
        fail(at_);
        return false;
      }
    }
    return false;
  }

  /// From the opening quote to behind the closing one.
  bool skipString() {
    for (++at_; !atEnd(); ++at_) {
      if (text_[at_] == '\n') {
        fail(at_);
        return false;
      }
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      // An escaped byte is not looked at, but for a line's end.
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
    return false;
  }

  bool skipContainer() {
    std::string open;
    while (!atEnd()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skipString()) return false;
        if (!atEnd() && !blank(text_[at_]) &&
            std::string_view(",:]}").find(text_[at_]) == std::string_view::npos) {
          fail(at_);
          return false;
        }
        continue;
      }
      if (c == '\\' && at_ + 1 < text_.size() &&
          (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\')) {
        at_ += 2;  // what a backslash hides is no quote, outside strings too
        continue;
      }
      if (c == '{' || c == '[') open.push_back(c);
      if (c == '}' || c == ']') {
        if (open.back() != (c == '}' ? '{' : '[')) {
          fail(at_);
          return false;
        }
        open.pop_back();
        if (open.empty()) {
          ++at_;
          return true;
        }
      }
      ++at_;
    }
    return false;
  }

  std::string_view text_;
  uint64_t at_ = 0;
};

}  // namespace penstock::runtime
