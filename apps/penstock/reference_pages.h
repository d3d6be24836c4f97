#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "penstock/base/option.h"
#include "penstock/base/status.h"

namespace penstock::command {

/// The options of one connector, as a table for a terminal.
[[nodiscard]] std::string optionsAsText(std::span<const base::OptionDefinition> definitions);

/// The same as a page of docs/reference/, in Markdown.
[[nodiscard]] std::string optionsAsMarkdown(std::string_view title, std::string_view introduction,
                                            std::span<const base::OptionDefinition> definitions);

/// Every generated page: file name to text.
[[nodiscard]] std::map<std::string, std::string> referencePages();

/// Writes referencePages() into `directory`, which is made if it is missing.
[[nodiscard]] absl::Status writeReferencePages(const std::filesystem::path& directory);

}  // namespace penstock::command
