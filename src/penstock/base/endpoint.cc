#include "penstock/base/endpoint.h"

#include <algorithm>

#include "penstock/base/text.h"

namespace penstock::base {
namespace {

absl::Status refuse(std::string_view setting, std::string_view text, std::string_view why) {
  return invalidArgument("{}: expected HOST:PORT ({}): '{}'", setting, why, text);
}

}  // namespace

std::string Endpoint::text() const { return fmt::format("{}:{}", host, port); }

absl::StatusOr<Endpoint> parseEndpoint(std::string_view setting, std::string_view text) {
  if (std::any_of(text.begin(), text.end(), isSpace)) {
    return refuse(setting, text, "without any whitespace");
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse(setting, text, "there is no colon");
  if (colon == 0) return refuse(setting, text, "the host is missing");
  const std::string_view digits = text.substr(colon + 1);
  uint32_t port = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return refuse(setting, text, "the port must be digits, 1 to 65535");
    port = std::min<uint32_t>(port * 10 + static_cast<uint32_t>(c - '0'), 100'000);
  }
  if (port < 1 || port > 65'535) return refuse(setting, text, "the port must be 1 to 65535");
  return Endpoint{std::string(text.substr(0, colon)), static_cast<uint16_t>(port)};
}

}  // namespace penstock::base
