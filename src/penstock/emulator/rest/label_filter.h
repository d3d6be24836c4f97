#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// The `filter` of datasets.list: `labels.KEY` or `labels.KEY:VALUE`, several of them with spaces
/// between, all of which a dataset must have.
class LabelFilter {
 public:
  /// An empty text lets everything pass. kInvalidArgument shows a text that is no filter.
  static absl::StatusOr<LabelFilter> parse(const std::string& text);

  /// Whether a resource with these members passes.
  [[nodiscard]] bool matches(const nlohmann::json& members) const;

 private:
  struct Condition {
    std::string key;
    std::string value;
    bool anyValue = false;
  };
  std::vector<Condition> conditions_;
};

}  // namespace penstock::emulator
