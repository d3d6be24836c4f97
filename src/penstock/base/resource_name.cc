#include "penstock/base/resource_name.h"

#include "penstock/base/text.h"

namespace penstock::base {

absl::Status checkNotBlank(std::string_view what, std::string_view value) {
  if (isBlank(value)) return invalidArgument("{} must not be blank: '{}'", what, value);
  return absl::OkStatus();
}

absl::Status checkResourceComponent(std::string_view what, std::string_view value) {
  PENSTOCK_RETURN_IF_ERROR(checkNotBlank(what, value));
  if (trimmed(value).size() != value.size()) {
    return invalidArgument("{} must not begin or end with whitespace: '{}'", what, value);
  }
  if (value.find('/') != std::string_view::npos) {
    return invalidArgument("{} must not contain '/' (it would address another resource): '{}'",
                           what, value);
  }
  return absl::OkStatus();
}

}  // namespace penstock::base
