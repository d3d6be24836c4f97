#include "penstock/emulator/rest/label_filter.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace penstock::emulator {
namespace {

constexpr std::string_view kPrefix = "labels.";

}  // namespace

absl::StatusOr<LabelFilter> LabelFilter::parse(const std::string& text) {
  LabelFilter filter;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':');
    const std::string name = word.substr(0, colon);
    if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) {
      return base::invalidArgument(
          "Invalid value for filter: '{}' is not of the form labels.KEY or labels.KEY:VALUE", word);
    }
    filter.conditions_.push_back({name.substr(kPrefix.size()),
                                  colon == std::string::npos ? "" : word.substr(colon + 1),
                                  colon == std::string::npos});
  }
  return filter;
}

bool LabelFilter::matches(const nlohmann::json& members) const {
  const nlohmann::json labels = members.value("labels", nlohmann::json::object());
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    const auto found = labels.find(condition.key);
    return found != labels.end() && (condition.anyValue || *found == condition.value);
  });
}

}  // namespace penstock::emulator
