#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::command {

/// Rows of text under headings.
struct TextTable {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

/// Terminal columns that UTF-8 `text` takes, counting each code point as one.
[[nodiscard]] size_t displayWidth(std::string_view text);

/// Columns side by side where they fit into `width`, else one line a value, row by row. Control
/// characters are shown as spaces, values over 60 columns are cut with "…".
[[nodiscard]] std::string renderTable(const TextTable& table, size_t width);

}  // namespace penstock::command
