#include "penstock/runtime/files/reader_position.h"

#include <charconv>

namespace penstock::runtime {
namespace {

/// Takes a number off the front of `text`.
template <typename Number>
bool takeNumber(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool takeChar(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string ReaderPosition::toText() const {
  return fmt::format("{}/{}/{}", offset, elements, lines);
}

absl::StatusOr<ReaderPosition> ReaderPosition::parse(std::string_view text) {
  ReaderPosition position;
  std::string_view rest = text;
  if (!takeNumber(rest, position.offset) || !takeChar(rest, '/') ||
      !takeNumber(rest, position.elements) || !takeChar(rest, '/') ||
      !takeNumber(rest, position.lines) || !rest.empty()) {
    return base::invalidArgument("\"{}\" is not a position in a file", text);
  }
  return position;
}

std::string FileSplit::toText() const {
  if (end == UINT64_MAX) return fmt::format("{}", file);
  return fmt::format("{}:{}-{}", file, begin, end);
}

absl::StatusOr<FileSplit> FileSplit::parse(std::string_view text) {
  FileSplit split;
  std::string_view rest = text;
  bool valid = takeNumber(rest, split.file);
  if (valid && !rest.empty()) {
    valid = takeChar(rest, ':') && takeNumber(rest, split.begin) && takeChar(rest, '-') &&
            takeNumber(rest, split.end) && rest.empty() && split.begin < split.end;
  }
  if (!valid) return base::invalidArgument("\"{}\" is not a part of a file", text);
  return split;
}

}  // namespace penstock::runtime
