#include "apps/penstock/reference_pages.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "penstock/bigquery/sink/sink_options.h"

namespace penstock::command {
namespace {

using ::testing::HasSubstr;

std::string contentsOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ReferencePages, InTheTreeAreUpToDate) {
  for (const auto& [name, text] : referencePages()) {
    const std::filesystem::path path =
        std::filesystem::path(PENSTOCK_SOURCE_DIR) / "docs/reference" / name;
    EXPECT_EQ(contentsOf(path), text) << name << ": run `make docs`";
  }
}

TEST(ReferencePages, NameEveryOptionInAllItsSpellings) {
  const std::string page = referencePages().at("bigquery-sink-options.md");
  for (const base::OptionDefinition& definition : bigquery::sinkOptionSet().definitions()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` | `{}` | `{}` |", definition.key,
                                            definition.name(base::OptionSpelling::kBuilder),
                                            definition.name(base::OptionSpelling::kFlag))));
  }
  EXPECT_THAT(page, HasSubstr("| 512 KiB |"));
  EXPECT_THAT(page, HasSubstr("CREATE_IF_NEEDED \\| CREATE_NEVER"));
}

TEST(ReferencePages, TextListsKeysBoundsAndDefaults) {
  const std::string text = optionsAsText(bigquery::sinkOptionSet().definitions());
  EXPECT_THAT(text, HasSubstr("  sink.max-retry-duration\n"));
  EXPECT_THAT(text, HasSubstr("duration; 0 or >= 1 ms; default 5 min"));
}

}  // namespace
}  // namespace penstock::command
