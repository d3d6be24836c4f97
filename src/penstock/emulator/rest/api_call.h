#pragma once

#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"

namespace penstock::emulator {

/// A call of the REST API, out of its HTTP clothes.
struct ApiCall {
  std::string httpMethod;  ///< after X-HTTP-Method-Override
  std::string path;        ///< decoded
  std::multimap<std::string, std::string> query;
  std::string ifMatch;      ///< the header; empty = none
  std::string ifNoneMatch;  ///< the header; empty = none
  std::string body;         ///< decompressed

  /// The query parameter; empty when it is absent.
  [[nodiscard]] std::string parameter(const std::string& name) const;
};

/// The answer to a call.
struct ApiAnswer {
  int httpCode = 200;
  std::string body;  ///< JSON, or empty
  std::string etag;  ///< sent as header where not empty
};

/// What a method returns instead of an answer: an error as the service words and shapes it.
struct ApiError {
  int httpCode = 500;
  std::string reason;  ///< "notFound", "duplicate", "invalid", "required", ...
  std::string message;
  std::string location;      ///< what the error is about: "If-Match", "pageToken"; empty = not told
  std::string locationType;  ///< "header", "parameter" or "other"; empty = not told
};

/// An answer or an error; errors become the service's envelope in one place.
class ApiResult {
 public:
  ApiResult(ApiAnswer answer)
      : answer_(std::move(answer)) {}  // NOLINT(google-explicit-constructor): returned as it is
  ApiResult(const ApiError& error);    // NOLINT(google-explicit-constructor): the same

  [[nodiscard]] ApiAnswer take() && { return std::move(answer_); }

 private:
  ApiAnswer answer_;
};

/// The error for a status out of the catalog or the row store.
[[nodiscard]] ApiError errorOf(const absl::Status& status);
[[nodiscard]] ApiError invalidError(std::string message);
[[nodiscard]] ApiError requiredError(std::string_view parameter);
/// 412: the caller's If-Match names another state of the resource than the one it is in.
[[nodiscard]] ApiError conditionNotMetError();
/// 400: the body is no JSON object.
[[nodiscard]] ApiError parseError(std::string message);
[[nodiscard]] ApiError notSupportedError(std::string_view what);

/// {"error": {"code", "message", "errors": [{"message", "domain", "reason", "location",
/// "locationType"}], "status"}}.
[[nodiscard]] std::string errorEnvelope(const ApiError& error);

/// Whether a header with entity tags ("*", one or several, quoted or not) names this one.
[[nodiscard]] bool namesEtag(std::string_view header, std::string_view etag);

/// 200 with this body, its `etag` also as header.
[[nodiscard]] ApiAnswer jsonAnswer(const nlohmann::json& body);

/// The body as a JSON object; kInvalidArgument when it is none or has more than 100 levels, which
/// is a parseError().
[[nodiscard]] absl::StatusOr<nlohmann::json> parseObject(std::string_view body);

/// A string member of an object; empty when absent, null or no string.
[[nodiscard]] std::string textOf(const nlohmann::json& object, const char* key);

/// An unsigned number out of a query parameter; nothing when it is absent. kInvalidArgument names
/// it.
[[nodiscard]] absl::StatusOr<std::optional<uint64_t>> numberParameter(const ApiCall& call,
                                                                      const std::string& name);

/// The part of a list of datasets or tables that a call asks for.
struct ListPage {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string nextToken;  ///< empty on the last page
};

/// By `maxResults` (50 when absent or 0) and `pageToken`, of a list of `count` entries.
[[nodiscard]] absl::StatusOr<ListPage> listPageOf(const ApiCall& call, uint64_t count);

/// kInvalidArgument names a member that is there and is no string.
[[nodiscard]] absl::Status checkTextMembers(const nlohmann::json& body,
                                            std::initializer_list<const char*> members);

/// A position in a list as an opaque token, and back; kInvalidArgument when the token is none of
/// ours.
[[nodiscard]] std::string pageTokenOf(uint64_t position);
[[nodiscard]] absl::StatusOr<uint64_t> positionOf(const std::string& pageToken);

}  // namespace penstock::emulator
