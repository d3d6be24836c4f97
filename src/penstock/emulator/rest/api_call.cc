#include "penstock/emulator/rest/api_call.h"

#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "penstock/emulator/json_dump.h"

namespace penstock::emulator {
namespace {

using nlohmann::json;

constexpr std::string_view kPageTokenMark = "row:";
constexpr int kMaxNesting = 100;
constexpr uint64_t kDefaultListPage = 50;

std::string_view canonicalStatus(int httpCode) {
  switch (httpCode) {
    case 400:
    case 413:
      return "INVALID_ARGUMENT";
    case 401:
      return "UNAUTHENTICATED";
    case 403:
      return "PERMISSION_DENIED";
    case 404:
      return "NOT_FOUND";
    case 409:
      return "ALREADY_EXISTS";
    case 412:
      return "FAILED_PRECONDITION";
    case 429:
      return "RESOURCE_EXHAUSTED";
    case 501:
      return "UNIMPLEMENTED";
    case 503:
      return "UNAVAILABLE";
    case 504:
      return "DEADLINE_EXCEEDED";
    default:
      return httpCode >= 500 ? "INTERNAL" : "UNKNOWN";
  }
}

/// Text that is not UTF-8 can come in by a path or a body; it must not make the answer throw.
/// Levels of objects and lists in a JSON text, whether it is well-formed or not.
int nestingOf(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

std::string ApiCall::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

ApiResult::ApiResult(const ApiError& error) {
  answer_.httpCode = error.httpCode;
  answer_.body = errorEnvelope(error);
}

ApiError errorOf(const absl::Status& status) {
  const std::string message(base::messageOf(status));
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return {400, "invalid", message};
    case absl::StatusCode::kNotFound:
      return {404, "notFound", message};
    case absl::StatusCode::kAlreadyExists:
      return {409, "duplicate", message};
    case absl::StatusCode::kFailedPrecondition:
      return {400, "resourceInUse", message};
    case absl::StatusCode::kUnimplemented:
      return {501, "notImplemented", message};
    case absl::StatusCode::kResourceExhausted:
      return {403, "quotaExceeded", message};
    default:
      return {500, "internalError", message};
  }
}

ApiError invalidError(std::string message) { return {400, "invalid", std::move(message)}; }

ApiError requiredError(std::string_view parameter) {
  return {400, "required", fmt::format("Required parameter is missing: {}", parameter),
          std::string(parameter), "parameter"};
}

ApiError conditionNotMetError() {
  return {412, "conditionNotMet", "Precondition check failed.", "If-Match", "header"};
}

ApiError parseError(std::string message) { return {400, "parseError", std::move(message)}; }

ApiError notSupportedError(std::string_view what) {
  return {501, "notImplemented",
          fmt::format("{} is not supported yet by the Penstock emulator", what)};
}

std::string errorEnvelope(const ApiError& error) {
  json entry = {{"message", error.message}, {"domain", "global"}, {"reason", error.reason}};
  if (!error.location.empty()) entry["location"] = error.location;
  if (!error.locationType.empty()) entry["locationType"] = error.locationType;
  return dumped({{"error",
                  {{"code", error.httpCode},
                   {"message", error.message},
                   {"errors", json::array({std::move(entry)})},
                   {"status", canonicalStatus(error.httpCode)}}}});
}

bool namesEtag(std::string_view header, std::string_view etag) {
  while (!header.empty()) {
    const size_t comma = std::min(header.find(','), header.size());
    std::string_view tag = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    while (tag.starts_with(' ')) tag.remove_prefix(1);
    while (tag.ends_with(' ')) tag.remove_suffix(1);
    if (tag.size() >= 2 && tag.starts_with('"') && tag.ends_with('"'))
      tag = tag.substr(1, tag.size() - 2);
    if (tag == "*" || tag == etag) return true;
  }
  return false;
}

ApiAnswer jsonAnswer(const json& body) { return {200, dumped(body), textOf(body, "etag")}; }

absl::StatusOr<json> parseObject(std::string_view body) {
  // Printing a value takes stack for each of its levels.
  if (nestingOf(body) > kMaxNesting) {
    return base::invalidArgument("Parse Error: the request's body is nested deeper than {} levels",
                                 kMaxNesting);
  }
  json value = json::parse(body, nullptr, false);
  if (!value.is_object())
    return base::invalidArgument("Parse Error: the request's body is not a JSON object");
  return value;
}

std::string textOf(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

absl::StatusOr<std::optional<uint64_t>> numberParameter(const ApiCall& call,
                                                        const std::string& name) {
  const std::string text = call.parameter(name);
  if (text.empty()) return std::optional<uint64_t>();
  uint64_t value = 0;
  if (!absl::SimpleAtoi(text, &value)) {
    return base::invalidArgument("Invalid value for {}: '{}' is not an unsigned integer", name,
                                 text);
  }
  return std::optional<uint64_t>(value);
}

absl::StatusOr<ListPage> listPageOf(const ApiCall& call, uint64_t count) {
  ListPage page;
  PENSTOCK_ASSIGN_OR_RETURN(const std::optional<uint64_t> limit,
                            numberParameter(call, "maxResults"));
  if (const std::string token = call.parameter("pageToken"); !token.empty()) {
    PENSTOCK_ASSIGN_OR_RETURN(page.begin, positionOf(token));
  }
  page.begin = std::min(page.begin, count);
  const uint64_t size = limit.value_or(0) == 0 ? kDefaultListPage : *limit;
  page.end = size < count - page.begin ? page.begin + size : count;
  if (page.end < count) page.nextToken = pageTokenOf(page.end);
  return page;
}

absl::Status checkTextMembers(const json& body, std::initializer_list<const char*> members) {
  for (const char* member : members) {
    const auto found = body.find(member);
    if (found == body.end() || found->is_null() || found->is_string()) continue;
    return base::invalidArgument("Invalid value for {}: must be a string", member);
  }
  return absl::OkStatus();
}

std::string pageTokenOf(uint64_t position) {
  return absl::WebSafeBase64Escape(fmt::format("{}{}", kPageTokenMark, position));
}

absl::StatusOr<uint64_t> positionOf(const std::string& pageToken) {
  std::string text;
  uint64_t position = 0;
  if (!absl::WebSafeBase64Unescape(pageToken, &text) || !text.starts_with(kPageTokenMark) ||
      !absl::SimpleAtoi(text.substr(kPageTokenMark.size()), &position)) {
    return base::invalidArgument("Invalid value for pageToken: '{}'", pageToken);
  }
  return position;
}

}  // namespace penstock::emulator
