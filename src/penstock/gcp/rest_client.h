#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"
#include "penstock/gcp/http_client.h"
#include "penstock/gcp/token_source.h"

namespace penstock::gcp {

struct RestEndpoint {
  std::string baseUrl;  ///< "https://bigquery.googleapis.com", without a slash at the end
  /// An emulator: no credentials, no proxy (BASE-007).
  bool emulator = false;
};

struct RestRequest {
  std::string method = "GET";
  std::string path;  ///< from the slash on, with its query, percent-encoded
  std::string body;  ///< JSON; empty = none
  /// The etag that the resource must still have (HTTP 412 otherwise); empty = any.
  std::string ifMatch;
  base::Duration timeout = std::chrono::seconds(60);
};

struct RestResponse {
  /// OK for HTTP 2xx. Else the HTTP code as a status and the service's message; without an HTTP
  /// answer, why there was none; or why there was no access token.
  absl::Status status;
  int httpCode = 0;  ///< 0: no HTTP answer
  std::string
      reason;        ///< of an error: error.errors[0].reason, e.g. "notFound", "rateLimitExceeded"
  std::string body;  ///< as received
  /// The answer came from Penstock's own emulator (header X-Penstock-Emulator).
  bool announcesPenstock = false;
};

/// Calls of one of Google Cloud's JSON REST services. One attempt each: schedules belong to the
/// caller. Thread-safe.
class RestClient {
 public:
  using Callback = std::function<void(RestResponse)>;

  /// `tokens` is asked for each request; null = none are carried, as with an emulator.
  RestClient(RestEndpoint endpoint, std::shared_ptr<HttpClient> http,
             std::shared_ptr<TokenSource> tokens);

  /// The callback comes exactly once, on another thread, never from inside.
  void call(RestRequest request, Callback callback);
  /// Waits for the answer. Not from inside a callback.
  [[nodiscard]] RestResponse callAndWait(RestRequest request);

  [[nodiscard]] const RestEndpoint& endpoint() const { return endpoint_; }

 private:
  RestEndpoint endpoint_;
  std::shared_ptr<HttpClient> http_;
  std::shared_ptr<TokenSource> tokens_;
};

/// The gRPC code that stands for an HTTP code of Google's REST services.
[[nodiscard]] absl::StatusCode codeOfHttp(int httpCode);

}  // namespace penstock::gcp
