#include "apps/penstock/metrics_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

namespace penstock::command {
namespace {

constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";
constexpr size_t kThreads = 2;
/// A client that says nothing holds the end of the load up for so long at most.
constexpr time_t kPatienceSeconds = 1;

}  // namespace

class MetricsServer::Implementation {
 public:
  Implementation(std::string host, std::function<std::string()> render)
      : host_(std::move(host)), render_(std::move(render)) {}

  ~Implementation() {
    if (!listener_.joinable()) return;
    // httplib forgets a stop that comes before its loop has begun.
    while (!server_.is_running() && !ended_) std::this_thread::yield();
    server_.stop();
    listener_.join();
  }

  absl::Status start(int port) {
    configure();
    errno = 0;
    port_ = port;
    const bool bound = port == 0 ? (port_ = server_.bind_to_any_port(host_)) > 0
                                 : server_.bind_to_port(host_, port);
    if (!bound) {
      return base::makeStatus(
          absl::StatusCode::kUnavailable, "cannot listen on {}:{}: {} (port 0 takes any free one)",
          host_, port,
          errno == 0 ? "the address cannot be used" : std::generic_category().message(errno));
    }
    listener_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    return absl::OkStatus();
  }

  [[nodiscard]] std::string url() const {
    const bool isIpv6 = host_.find(':') != std::string::npos;
    return isIpv6 ? fmt::format("http://[{}]:{}/metrics", host_, port_)
                  : fmt::format("http://{}:{}/metrics", host_, port_);
  }

 private:
  void configure() {
    // httplib would set SO_REUSEPORT, with which two loads could share a port without noticing.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(kPatienceSeconds);
    server_.set_write_timeout(kPatienceSeconds);
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(render_(), kContentType);
    });
  }

  const std::string host_;
  const std::function<std::string()> render_;
  httplib::Server server_;
  int port_ = 0;
  std::thread listener_;
  std::atomic<bool> ended_{false};
};

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::start(
    const std::string& host, int port, std::function<std::string()> render) {
  auto implementation = std::make_unique<Implementation>(host, std::move(render));
  PENSTOCK_RETURN_IF_ERROR(implementation->start(port));
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(implementation)));
}

MetricsServer::MetricsServer(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
MetricsServer::~MetricsServer() = default;

std::string MetricsServer::url() const { return implementation_->url(); }

}  // namespace penstock::command
