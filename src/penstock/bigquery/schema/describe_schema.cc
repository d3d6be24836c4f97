#include "penstock/bigquery/schema/describe_schema.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "penstock/bigquery/schema/type_name.h"

namespace penstock::bigquery {
namespace {

constexpr size_t kCells = 4;
using Line = std::array<std::string, kCells>;

/// Characters rather than bytes: names and descriptions are UTF-8.
size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// The text on one line, without what a terminal would act on.
std::string oneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return line;
}

void addLines(const std::vector<Column>& columns, size_t depth, std::vector<Line>& lines) {
  for (const Column& column : columns) {
    lines.push_back({std::string(2 * depth, ' ') + oneLine(column.name), describeType(column),
                     std::string(nameOf(column.mode)), oneLine(column.description)});
    addLines(column.fields, depth + 1, lines);
  }
}

}  // namespace

std::string describeSchema(const TableSchema& schema) {
  std::vector<Line> lines = {{"column", "type", "mode", "description"}};
  addLines(schema.columns, 0, lines);
  const bool described = std::any_of(lines.begin() + 1, lines.end(),
                                     [](const Line& line) { return !line.back().empty(); });
  if (!described) lines.front().back().clear();

  std::array<size_t, kCells> widths{};
  for (const Line& line : lines) {
    for (size_t i = 0; i < kCells; ++i) widths[i] = std::max(widths[i], widthOf(line[i]));
  }
  std::string text;
  for (const Line& line : lines) {
    for (size_t i = 0; i < kCells; ++i) {
      text += line[i];
      text.append(widths[i] - widthOf(line[i]) + 2, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace penstock::bigquery
