#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace penstock::gcp::testing {

struct ReceivedRequest {
  std::string method;
  std::string target;                          ///< path and query, as sent
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
  int connection = 0;  ///< counts the connections from 0
};

struct ScriptedAnswer {
  int code = 200;
  std::string body;
  std::map<std::string, std::string> headers;
  /// Closes the connection instead of answering.
  bool cut = false;
};

/// HTTP/1.1 over a free port of 127.0.0.1 with keep-alive, each request answered by the test's own
/// function, on the connection's thread.
class ScriptedHttpServer {
 public:
  using Answer = std::function<ScriptedAnswer(const ReceivedRequest&)>;

  /// Plaintext.
  explicit ScriptedHttpServer(Answer answer);
  /// TLS with this certificate and key.
  ScriptedHttpServer(Answer answer, const std::string& certificatePem, const std::string& keyPem);
  /// Waits for the function to return from what is open.
  ~ScriptedHttpServer();

  [[nodiscard]] int port() const;
  /// "127.0.0.1:port"
  [[nodiscard]] std::string address() const;
  /// All requests so far.
  [[nodiscard]] std::vector<ReceivedRequest> received() const;

  class Listener;

 private:
  std::unique_ptr<Listener> listener_;
};

}  // namespace penstock::gcp::testing
