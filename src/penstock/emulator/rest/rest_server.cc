#include "penstock/emulator/rest/rest_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include "penstock/base/mutex.h"
#include "penstock/emulator/rest/elastic_threads.h"
#include "penstock/emulator/rest/rest_api.h"
#include "penstock/emulator/service/connection_cut.h"
#include "penstock/emulator/version.h"

namespace penstock::emulator {
namespace {

constexpr const char* kVersionHeader = "X-Penstock-Emulator";
constexpr const char* kJson = "application/json; charset=UTF-8";
constexpr const char* kEveryPath = R"([\s\S]*)";
constexpr size_t kMaxBodyBytes = 64 << 20;
constexpr int kBacklog = 128;
constexpr time_t kKeepAliveSeconds = 60;
constexpr size_t kKeepAliveRequests = 1000000;

/// httplib's jobs (one for each connection) on threads that come and go.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override { threads_.run(std::move(job)); }
  void shutdown() override { threads_.finish(); }

 private:
  ElasticThreads threads_;
};

/// httplib listens with a queue of five connections, which a burst of clients overflows.
class ListeningServer final : public httplib::Server {
 public:
  void deepenBacklog() { ::listen(svr_sock_, kBacklog); }
};

std::string lowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

ApiCall callOf(const httplib::Request& request, std::string body) {
  ApiCall call;
  call.httpMethod = request.method == "HEAD" ? "GET" : request.method;
  const std::string override = request.get_header_value("X-HTTP-Method-Override");
  if (request.method == "POST" && !override.empty()) call.httpMethod = override;
  call.path = request.path;
  for (const auto& [name, value] : request.params) call.query.emplace(name, value);
  call.ifMatch = request.get_header_value("If-Match");
  call.ifNoneMatch = request.get_header_value("If-None-Match");
  call.body = std::move(body);
  return call;
}

}  // namespace

class RestServer::Impl {
 public:
  Impl(const Parts& parts, std::string host, std::string defaultLocation)
      : parts_(parts), host_(std::move(host)), defaultLocation_(std::move(defaultLocation)) {}

  ~Impl() { stop(); }

  absl::Status start(int port) {
    configure();
    errno = 0;
    port_ = port == 0                           ? server_.bind_to_any_port(host_)
            : server_.bind_to_port(host_, port) ? port
                                                : -1;
    if (port_ < 0) {
      const std::string why =
          errno == 0 ? "the address cannot be used" : std::generic_category().message(errno);
      return base::makeStatus(absl::StatusCode::kUnavailable, "cannot listen on {}:{} (REST): {}",
                              host_, port, why);
    }
    server_.deepenBacklog();
    api_ = std::make_unique<RestApi>(parts_.catalog, parts_.rows,
                                     fmt::format("http://{}:{}", host_, port_), defaultLocation_);
    listener_ = std::thread([this] {
      server_.listen_after_bind();
      listenerEnded_ = true;
    });
    return absl::OkStatus();
  }

  void stop() {
    {
      const base::MutexLock lock(mutex_);
      if (stopping_) return;
      stopping_ = true;
      stopped_.notifyAll();
    }
    if (!listener_.joinable()) return;
    // httplib forgets a stop that comes before its loop has begun.
    while (!server_.is_running() && !listenerEnded_) std::this_thread::yield();
    server_.stop();
    // Clients that keep a connection open would hold its thread for as long as they like; answers
    // that are being written still go out.
    shutDownConnections(port_, std::nullopt, SHUT_RD);
    listener_.join();
  }

  [[nodiscard]] int port() const { return port_; }

 private:
  void configure() {
    server_.new_task_queue = [] { return new ConnectionThreads(); };
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_max_count(kKeepAliveRequests);
    server_.set_keep_alive_timeout(kKeepAliveSeconds);
    server_.set_read_timeout(std::chrono::seconds(60));
    server_.set_payload_max_length(kMaxBodyBytes);
    server_.set_default_headers({{kVersionHeader, std::string(version())}});
    // httplib would set SO_REUSEPORT, with which two emulators could share a port without noticing.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.Get(kEveryPath, [this](const httplib::Request& request, httplib::Response& response) {
      answer(request, "", response);
    });
    const auto withBody = [this](const httplib::Request& request, httplib::Response& response,
                                 const httplib::ContentReader& reader) {
      std::string body;
      if (!readBody(request, reader, body)) {
        setAnswer(ApiResult(invalidError("the request's body cannot be read")).take(), response);
        return;
      }
      answer(request, std::move(body), response);
    };
    server_.Post(kEveryPath, withBody);
    server_.Put(kEveryPath, withBody);
    server_.Patch(kEveryPath, withBody);
    server_.Delete(kEveryPath, withBody);
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const ApiError error{response.status,
                           response.status == 413 ? "requestTooLarge" : "badRequest",
                           fmt::format("the request cannot be served: HTTP {}", response.status)};
      response.set_content(errorEnvelope(error), kJson);
    });
  }

  /// Without a length and without chunks there is no body, and httplib would wait for the
  /// connection's end.
  static bool readBody(const httplib::Request& request, const httplib::ContentReader& reader,
                       std::string& body) {
    const bool chunked = lowerCase(request.get_header_value("Transfer-Encoding")) == "chunked";
    if (!chunked && request.get_header_value("Content-Length").empty()) return true;
    return reader([&](const char* data, size_t length) {
      body.append(data, length);
      return true;
    });
  }

  static void setAnswer(ApiAnswer answer, httplib::Response& response) {
    response.status = answer.httpCode;
    if (!answer.etag.empty()) response.set_header("ETag", answer.etag);
    if (answer.body.empty()) return;
    response.body = std::move(answer.body);  // a page of rows has megabytes: not copied
    response.set_header("Content-Type", kJson);
  }

  void answer(const httplib::Request& request, std::string body, httplib::Response& response) {
    const ApiCall call = callOf(request, std::move(body));
    if (call.path.starts_with("/penstock/")) {
      setAnswer(adminAnswer(call), response);
      return;
    }
    const ApiTarget target = RestApi::targetOf(call);
    const std::optional<Fault> fault =
        target.method.empty() ? std::nullopt : parts_.faults.next(target.method, target.resource());
    if (!fault) {
      setAnswer(api_->handle(call, target), response);
      return;
    }
    waitFor(fault->rule.delay);
    switch (fault->rule.action) {
      case FaultAction::kDelay:
      case FaultAction::kOldSchema:
        setAnswer(api_->handle(call, target), response);
        return;
      case FaultAction::kFail:
      case FaultAction::kHideTable:
      case FaultAction::kQuota:
        setAnswer(ApiResult(ApiError{fault->rule.httpCode, fault->rule.reason, fault->rule.message})
                      .take(),
                  response);
        return;
      case FaultAction::kCutAfter:
        api_->handle(call, target);
        [[fallthrough]];
      case FaultAction::kCutBefore:
        cutConnection(request.local_port, request.remote_port);
        return;
      case FaultAction::kHang:
        waitFor(std::chrono::hours(24 * 365));
        cutConnection(request.local_port, request.remote_port);
        return;
    }
  }

  ApiAnswer adminAnswer(const ApiCall& call) {
    if (call.path == "/penstock/health" && call.httpMethod == "GET") {
      return {200, fmt::format(R"({{"status":"ok","version":"{}"}})", version()), ""};
    }
    if (call.path == "/penstock/faults") {
      FaultRules::AdminAnswer answer =
          parts_.faults.handleAdmin(call.httpMethod, call.parameter("id"), call.body);
      return {answer.httpCode, std::move(answer.body), ""};
    }
    return ApiResult(ApiError{404, "notFound",
                              fmt::format("Not found: URL {} {}", call.httpMethod, call.path)})
        .take();
  }

  /// Returns early when the server stops.
  void waitFor(base::Duration duration) {
    const base::MonotonicTime deadline = base::deadlineAfter(base::systemClock().now(), duration);
    const base::MutexLock lock(mutex_);
    while (!stopping_ && base::systemClock().now() < deadline) stopped_.waitUntil(mutex_, deadline);
  }

  const Parts parts_;
  const std::string host_;
  const std::string defaultLocation_;
  ListeningServer server_;
  std::unique_ptr<RestApi> api_;
  std::thread listener_;
  std::atomic<bool> listenerEnded_ = false;
  int port_ = -1;
  base::Mutex mutex_;
  base::CondVar stopped_;
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<std::unique_ptr<RestServer>> RestServer::start(const std::string& host, int port,
                                                              const Parts& parts,
                                                              const std::string& defaultLocation) {
  auto impl = std::make_unique<Impl>(parts, host, defaultLocation);
  PENSTOCK_RETURN_IF_ERROR(impl->start(port));
  return std::unique_ptr<RestServer>(new RestServer(std::move(impl)));
}

RestServer::RestServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RestServer::~RestServer() = default;
int RestServer::port() const { return impl_->port(); }
void RestServer::stop() { impl_->stop(); }

}  // namespace penstock::emulator
