#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/status.h"

namespace penstock::gcp {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  ///< "Name: value"
  std::string body;
  /// Of the whole exchange; at least 1 ms.
  base::Duration timeout = std::chrono::seconds(60);
  /// Of resolving and connecting alone; never longer than `timeout`.
  base::Duration connectTimeout = std::chrono::seconds(10);
  /// Goes straight to the host, whatever proxy the environment names: emulators, the metadata
  /// server.
  bool withoutProxy = false;
};

struct HttpResponse {
  int code = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

struct HttpClientOptions {
  std::string userAgent;
  /// PEM file of the certificate authorities trusted for https; empty = the system's.
  std::string caFile;
};

/// HTTP requests, any number at a time, on one thread; connections are kept and used again. Proxies
/// are taken from the environment as curl does. Thread-safe.
class HttpClient {
 public:
  /// An answer of any HTTP code, or why there is none: DEADLINE_EXCEEDED, CANCELLED (the client was
  /// destroyed), else UNAVAILABLE. Messages name the host, never the rest of the URL.
  using Callback = std::function<void(absl::StatusOr<HttpResponse>)>;

  explicit HttpClient(HttpClientOptions options);
  /// Ends what is open with CANCELLED and waits for the thread, unless it is called on it.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// The callback comes exactly once, on the client's thread, never from inside send. It must not
  /// block.
  void send(HttpRequest request, Callback callback);

  /// Runs `task` on the client's thread, soon: for a callback that must not come from inside a
  /// call.
  void run(std::function<void()> task);

  /// Sends and waits. Not from inside a callback.
  [[nodiscard]] absl::StatusOr<HttpResponse> sendAndWait(HttpRequest request);

  class Worker;

 private:
  std::shared_ptr<Worker> worker_;
};

/// Percent-encodes everything but unreserved characters: a path segment or a query value.
[[nodiscard]] std::string urlEncode(std::string_view text);

}  // namespace penstock::gcp
