#include "penstock/gcp/rest_client.h"

#include <future>
#include <nlohmann/json.hpp>
#include <utility>

namespace penstock::gcp {
namespace {

using Json = nlohmann::json;

constexpr char kEmulatorHeader[] = "x-penstock-emulator";

/// Fills in what an answer that is not 2xx says of itself: {"error": {"message", "errors":
/// [{"reason"}]}}.
void readError(const Json& json, RestResponse* response) {
  std::string message;
  if (json.is_object() && json.contains("error") && json["error"].is_object()) {
    const Json& error = json["error"];
    message = error.value("message", Json()).is_string() ? error["message"].get<std::string>() : "";
    if (error.contains("errors") && error["errors"].is_array() && !error["errors"].empty()) {
      const Json& first = error["errors"][0];
      if (first.is_object() && first.value("reason", Json()).is_string()) {
        response->reason = first["reason"].get<std::string>();
      }
    }
  }
  absl::StatusCode code = codeOfHttp(response->httpCode);
  if (response->reason == "rateLimitExceeded" || response->reason == "quotaExceeded") {
    code = absl::StatusCode::kResourceExhausted;
  }
  if (message.empty()) message = fmt::format("HTTP {}", response->httpCode);
  if (!response->reason.empty()) message += fmt::format(" ({})", response->reason);
  response->status = base::makeStatus(code, "{}", message);
}

RestResponse readResponse(absl::StatusOr<HttpResponse> answer) {
  RestResponse response;
  if (!answer.ok()) {
    response.status = answer.status();
    return response;
  }
  response.httpCode = answer->code;
  response.announcesPenstock = answer->headers.contains(kEmulatorHeader);
  if (answer->code < 200 || answer->code > 299) {
    readError(Json::parse(answer->body, nullptr, /*allow_exceptions=*/false), &response);
  }
  response.body = std::move(answer->body);
  return response;
}

HttpRequest toHttp(const RestEndpoint& endpoint, RestRequest request) {
  HttpRequest http;
  http.method = std::move(request.method);
  http.url = endpoint.baseUrl + request.path;
  http.headers = {"Accept: application/json"};
  if (!request.body.empty()) http.headers.emplace_back("Content-Type: application/json");
  if (!request.ifMatch.empty()) http.headers.push_back("If-Match: " + request.ifMatch);
  http.body = std::move(request.body);
  http.timeout = request.timeout;
  http.withoutProxy = endpoint.emulator;
  return http;
}

void authorize(const Authorization& authorization, HttpRequest* request) {
  request->headers.push_back("Authorization: " + authorization.bearer);
  if (!authorization.quotaProject.empty()) {
    request->headers.push_back("X-Goog-User-Project: " + authorization.quotaProject);
  }
}

}  // namespace

RestClient::RestClient(RestEndpoint endpoint, std::shared_ptr<HttpClient> http,
                       std::shared_ptr<TokenSource> tokens)
    : endpoint_(std::move(endpoint)),
      http_(std::move(http)),
      tokens_(endpoint_.emulator ? nullptr : std::move(tokens)) {}

void RestClient::call(RestRequest request, Callback callback) {
  HttpRequest http = toHttp(endpoint_, std::move(request));
  auto onAnswer = [callback](absl::StatusOr<HttpResponse> answer) {
    callback(readResponse(std::move(answer)));
  };
  if (tokens_ == nullptr) return http_->send(std::move(http), std::move(onAnswer));
  if (const std::optional<Authorization> token = tokens_->current()) {
    authorize(*token, &http);
    return http_->send(std::move(http), std::move(onAnswer));
  }
  tokens_->fetch([client = std::weak_ptr<HttpClient>(http_), http = std::move(http), callback,
                  onAnswer = std::move(onAnswer)](absl::StatusOr<Authorization> token) mutable {
    if (!token.ok()) return callback({.status = token.status()});
    const std::shared_ptr<HttpClient> alive = client.lock();
    if (alive == nullptr) return callback({.status = absl::CancelledError("closed")});
    authorize(*token, &http);
    alive->send(std::move(http), std::move(onAnswer));
  });
}

RestResponse RestClient::callAndWait(RestRequest request) {
  std::promise<RestResponse> promise;
  std::future<RestResponse> answer = promise.get_future();
  call(std::move(request),
       [&promise](RestResponse response) { promise.set_value(std::move(response)); });
  return answer.get();
}

absl::StatusCode codeOfHttp(int httpCode) {
  if (httpCode >= 200 && httpCode <= 299) return absl::StatusCode::kOk;
  switch (httpCode) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kAlreadyExists;
    case 412:
      return absl::StatusCode::kFailedPrecondition;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 499:
      return absl::StatusCode::kCancelled;
    case 500:
      return absl::StatusCode::kInternal;
    case 501:
      return absl::StatusCode::kUnimplemented;
    case 502:
    case 503:
      return absl::StatusCode::kUnavailable;
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace penstock::gcp
