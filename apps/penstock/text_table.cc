#include "apps/penstock/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::command {
namespace {

constexpr size_t kWidestValue = 60;
constexpr std::string_view kGap = "  ";

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Fit for a cell: on one line, not too wide.
std::string tidied(std::string_view text) {
  std::string result;
  size_t columns = 0;
  for (const char c : text) {
    if (!isContinuation(c) && ++columns > kWidestValue) return result + "…";
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  return result;
}

std::string padded(const std::string& text, size_t width) {
  const size_t taken = displayWidth(text);
  return taken >= width ? text : text + std::string(width - taken, ' ');
}

TextTable tidiedTable(const TextTable& table) {
  TextTable result = table;
  for (std::string& heading : result.headings) heading = tidied(heading);
  for (auto& row : result.rows) {
    for (std::string& value : row) value = tidied(value);
  }
  return result;
}

std::vector<size_t> columnWidths(const TextTable& table) {
  std::vector<size_t> widths;
  for (size_t column = 0; column < table.headings.size(); ++column) {
    size_t width = displayWidth(table.headings[column]);
    for (const auto& row : table.rows) width = std::max(width, displayWidth(row[column]));
    widths.push_back(width);
  }
  return widths;
}

std::string line(const std::vector<std::string>& values, const std::vector<size_t>& widths) {
  std::string result;
  for (size_t column = 0; column < values.size(); ++column) {
    if (column > 0) result += kGap;
    result += column + 1 == values.size() ? values[column] : padded(values[column], widths[column]);
  }
  while (result.ends_with(' ')) result.pop_back();
  return result + "\n";
}

std::string renderGrid(const TextTable& table, const std::vector<size_t>& widths) {
  std::string result = line(table.headings, widths);
  std::vector<std::string> rules;
  for (const size_t width : widths) rules.emplace_back(width, '-');
  result += line(rules, widths);
  for (const auto& row : table.rows) result += line(row, widths);
  return result;
}

std::string renderRecords(const TextTable& table) {
  size_t width = 0;
  for (const std::string& heading : table.headings) width = std::max(width, displayWidth(heading));
  std::string result;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    result += fmt::format("-- row {}\n", row + 1);
    for (size_t column = 0; column < table.headings.size(); ++column) {
      result +=
          fmt::format("{}  {}\n", padded(table.headings[column], width), table.rows[row][column]);
    }
  }
  return result;
}

}  // namespace

size_t displayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}

std::string renderTable(const TextTable& original, size_t width) {
  const TextTable table = tidiedTable(original);
  const std::vector<size_t> widths = columnWidths(table);
  size_t total = 0;
  for (const size_t each : widths) total += each + kGap.size();
  std::string result =
      total <= width + kGap.size() ? renderGrid(table, widths) : renderRecords(table);
  if (result.ends_with('\n')) result.pop_back();
  return result;
}

}  // namespace penstock::command
