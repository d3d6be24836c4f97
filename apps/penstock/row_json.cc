#include "apps/penstock/row_json.h"

#include <charconv>
#include <chrono>
#include <cmath>

namespace penstock::command {
namespace {

using bigquery::Column;
using bigquery::ColumnMode;
using bigquery::ColumnType;
using nlohmann::json;
using nlohmann::ordered_json;

absl::Status unexpected(const Column& column) {
  return base::makeStatus(absl::StatusCode::kInternal,
                          "the answer's value of column '{}' has an unexpected form", column.name);
}

template <typename Number>
bool parseNumber(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

/// A JSON column's text as a value where that says exactly the same, else as a string that holds
/// the text: the string "12" and the number 12, or null and no value at all, must stay apart when
/// the row is loaded again.
ordered_json documentAsJson(const std::string& text) {
  ordered_json value = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool sameWhenLoaded =
      !value.is_discarded() && !value.is_string() && !value.is_null() && value.dump() == text;
  return sameWhenLoaded ? value : ordered_json(text);
}

ordered_json scalarAsJson(const Column& column, const std::string& text);

/// "[start, end)" as the object that `load` takes; an unbounded end is null.
ordered_json rangeAsJson(const Column& column, const std::string& text) {
  const size_t comma = text.find(", ");
  if (text.size() < 2 || text.front() != '[' || text.back() != ')' || comma == std::string::npos) {
    return text;
  }
  Column element;
  element.type = column.rangeElementType;
  const auto bound = [&](const std::string& value) {
    return value == "UNBOUNDED" ? ordered_json(nullptr) : scalarAsJson(element, value);
  };
  ordered_json result = ordered_json::object();
  result["start"] = bound(text.substr(1, comma - 1));
  result["end"] = bound(text.substr(comma + 2, text.size() - comma - 3));
  return result;
}

ordered_json scalarAsJson(const Column& column, const std::string& text) {
  switch (column.type) {
    case ColumnType::kInt64: {
      int64_t value = 0;
      if (parseNumber(text, value)) return value;
      return text;
    }
    case ColumnType::kDouble: {
      double value = 0;
      if (parseNumber(text, value) && std::isfinite(value)) return value;
      return text;  // "NaN", "Infinity"
    }
    case ColumnType::kBool:
      return text == "true";
    case ColumnType::kTimestamp: {
      int64_t value = 0;
      if (parseNumber(text, value)) return timestampText(value);
      return text;
    }
    case ColumnType::kJson:
      return documentAsJson(text);
    case ColumnType::kRange:
      return rangeAsJson(column, text);
    default:
      return text;
  }
}

absl::StatusOr<ordered_json> valueAsJson(const Column& column, const json& value) {
  if (value.is_null()) return ordered_json(nullptr);
  if (column.type == ColumnType::kStruct) return rowAsJson(column.fields, value);
  if (value.is_boolean() || value.is_number()) return ordered_json(value);
  if (!value.is_string()) return unexpected(column);
  return scalarAsJson(column, value.get<std::string>());
}

absl::StatusOr<ordered_json> repeatedAsJson(const Column& column, const json& items) {
  if (!items.is_array()) return unexpected(column);
  ordered_json result = ordered_json::array();
  for (const json& item : items) {
    const auto held = item.find("v");
    if (held == item.end()) return unexpected(column);
    PENSTOCK_ASSIGN_OR_RETURN(ordered_json value, valueAsJson(column, *held));
    result.push_back(std::move(value));
  }
  return result;
}

}  // namespace

absl::StatusOr<ordered_json> rowAsJson(std::span<const Column> columns, const json& row) {
  const auto cells = row.find("f");
  if (cells == row.end() || !cells->is_array() || cells->size() != columns.size()) {
    return base::makeStatus(absl::StatusCode::kInternal,
                            "a row of the answer does not fit the table's {} columns",
                            columns.size());
  }
  ordered_json result = ordered_json::object();
  for (size_t index = 0; index < columns.size(); ++index) {
    const Column& column = columns[index];
    const json& cell = (*cells)[index];
    const auto held = cell.find("v");
    if (held == cell.end()) return unexpected(column);
    const bool repeated = column.mode == ColumnMode::kRepeated && !held->is_null();
    PENSTOCK_ASSIGN_OR_RETURN(
        ordered_json value, repeated ? repeatedAsJson(column, *held) : valueAsJson(column, *held));
    result[column.name] = std::move(value);
  }
  return result;
}

std::string timestampText(int64_t microseconds) {
  const std::chrono::sys_time<std::chrono::microseconds> time{
      std::chrono::microseconds(microseconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (const int64_t fraction = clock.subseconds().count(); fraction != 0) {
    text += fmt::format(".{:06}", fraction);
    while (text.back() == '0') text.pop_back();
  }
  return text + "Z";
}

std::string cellText(const ordered_json& value) {
  if (value.is_null()) return "NULL";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace penstock::command
