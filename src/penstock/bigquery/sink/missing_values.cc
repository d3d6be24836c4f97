#include "penstock/bigquery/sink/missing_values.h"

#include <optional>
#include <set>
#include <utility>

namespace penstock::bigquery {
namespace {

// Field numbers of google.cloud.bigquery.storage.v1.AppendRowsRequest and of its map's entries.
constexpr uint8_t kInterpretations = 7 << 3 | 2;
constexpr uint8_t kDefaultInterpretation = 8 << 3 | 0;
constexpr uint8_t kEntryKey = 1 << 3 | 2;
constexpr uint8_t kEntryValue = 2 << 3 | 0;
constexpr size_t kMostNameBytes = 300;  // a column's name, by the service's rules

struct Entry {
  std::string_view column;
  MissingValueInterpretation interpretation;
};

std::optional<Entry> parseEntry(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals > kMostNameBytes) return {};
  const std::string_view value = text.substr(equals + 1);
  if (value == "NULL_VALUE") {
    return Entry{text.substr(0, equals), MissingValueInterpretation::kNullValue};
  }
  if (value == "DEFAULT_VALUE") {
    return Entry{text.substr(0, equals), MissingValueInterpretation::kDefaultValue};
  }
  return {};
}

char numberOf(MissingValueInterpretation interpretation) {
  return static_cast<char>(interpretation);
}

void appendLength(std::string& to, size_t length) {
  for (; length >= 0x80; length >>= 7) to.push_back(static_cast<char>(length | 0x80));
  to.push_back(static_cast<char>(length));
}

void appendEntry(std::string& to, const Entry& entry) {
  std::string bytes;
  bytes.push_back(static_cast<char>(kEntryKey));
  appendLength(bytes, entry.column.size());
  bytes.append(entry.column);
  bytes.push_back(static_cast<char>(kEntryValue));
  bytes.push_back(numberOf(entry.interpretation));
  to.push_back(static_cast<char>(kInterpretations));
  appendLength(to, bytes.size());
  to.append(bytes);
}

}  // namespace

std::string encodeMissingValues(const SinkOptions& options) {
  std::string bytes;
  for (const std::string& text : options.missingValueInterpretations) {
    appendEntry(bytes, *parseEntry(text));
  }
  if (options.defaultMissingValueInterpretation != MissingValueInterpretation::kUnset) {
    bytes.push_back(static_cast<char>(kDefaultInterpretation));
    bytes.push_back(numberOf(options.defaultMissingValueInterpretation));
  }
  return bytes;
}

absl::Status checkMissingValues(const std::vector<std::string>& columns, std::string_view name) {
  std::set<std::string_view> seen;
  for (const std::string& text : columns) {
    const std::optional<Entry> entry = parseEntry(text);
    if (!entry) {
      return base::invalidArgument(
          "{} must be a list of COLUMN=NULL_VALUE or COLUMN=DEFAULT_VALUE: '{}'", name, text);
    }
    if (!seen.insert(entry->column).second) {
      return base::invalidArgument("{} names a column twice: '{}'", name, entry->column);
    }
  }
  return absl::OkStatus();
}

}  // namespace penstock::bigquery
