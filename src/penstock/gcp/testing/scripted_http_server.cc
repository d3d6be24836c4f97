#include "penstock/gcp/testing/scripted_http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::gcp::testing {
namespace {

/// One connection's bytes, in the clear or through TLS.
class Connection {
 public:
  Connection(int socket, SSL_CTX* tls) : socket_(socket) {
    if (tls == nullptr) return;
    ssl_.reset(SSL_new(tls));
    SSL_set_fd(ssl_.get(), socket_);
    usable_ = SSL_accept(ssl_.get()) == 1;
  }

  std::optional<ReceivedRequest> readRequest() {
    size_t end = std::string::npos;
    while ((end = buffered_.find("\r\n\r\n")) == std::string::npos) {
      if (!readMore()) return std::nullopt;
    }
    ReceivedRequest request = parseHead(buffered_.substr(0, end));
    buffered_.erase(0, end + 4);
    size_t length = 0;
    const std::string text = request.headers["content-length"];
    std::from_chars(text.data(), text.data() + text.size(), length);
    while (buffered_.size() < length) {
      if (!readMore()) return std::nullopt;
    }
    request.body = buffered_.substr(0, length);
    buffered_.erase(0, length);
    return request;
  }

  bool writeAnswer(const ScriptedAnswer& answer) {
    std::string text = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Length: {}\r\n", answer.code,
                                   answer.body.size());
    for (const auto& [name, value] : answer.headers) text += fmt::format("{}: {}\r\n", name, value);
    text += "\r\n" + answer.body;
    for (size_t sent = 0; sent < text.size();) {
      const int more = static_cast<int>(std::min<size_t>(text.size() - sent, 1 << 20));
      const long count =
          ssl_ ? SSL_write(ssl_.get(), text.data() + sent, more)
               : ::send(socket_, text.data() + sent, static_cast<size_t>(more), MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<size_t>(count);
    }
    return true;
  }

 private:
  static ReceivedRequest parseHead(const std::string& head) {
    ReceivedRequest request;
    size_t begin = head.find("\r\n");
    const std::string first = head.substr(0, begin);
    request.method = first.substr(0, first.find(' '));
    request.target = first.substr(first.find(' ') + 1);
    request.target.resize(request.target.rfind(' '));
    while (begin != std::string::npos) {
      const size_t end = head.find("\r\n", begin + 2);
      const std::string line =
          head.substr(begin + 2, end == std::string::npos ? std::string::npos : end - begin - 2);
      std::string name = line.substr(0, line.find(':'));
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      const size_t value = line.find_first_not_of(' ', line.find(':') + 1);
      request.headers[name] = value == std::string::npos ? "" : line.substr(value);
      begin = end;
    }
    return request;
  }

  bool readMore() {
    if (!usable_) return false;
    char bytes[16384];
    const long count =
        ssl_ ? SSL_read(ssl_.get(), bytes, sizeof bytes) : ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    buffered_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  const int socket_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  bool usable_ = true;
  std::string buffered_;
};

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeContext>;

TlsContext makeTlsContext(const std::string& certificatePem, const std::string& keyPem) {
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  BIO* bio = BIO_new_mem_buf(certificatePem.data(), static_cast<int>(certificatePem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  SSL_CTX_use_certificate(context.get(), certificate);
  X509_free(certificate);
  bio = BIO_new_mem_buf(keyPem.data(), static_cast<int>(keyPem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  SSL_CTX_use_PrivateKey(context.get(), key);
  EVP_PKEY_free(key);
  return context;
}

}  // namespace

class ScriptedHttpServer::Listener {
 public:
  Listener(Answer answer, TlsContext tls) : answer_(std::move(answer)), tls_(std::move(tls)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(socket_, 64);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept(); });
  }

  ~Listener() {
    ::shutdown(socket_, SHUT_RDWR);
    accepting_.join();
    {
      base::MutexLock lock(mutex_);
      for (const int open : sockets_) ::shutdown(open, SHUT_RDWR);
    }
    for (std::thread& thread : connections_) thread.join();
    ::close(socket_);
  }

  [[nodiscard]] int port() const { return port_; }

  [[nodiscard]] std::vector<ReceivedRequest> received() const {
    base::MutexLock lock(mutex_);
    return received_;
  }

 private:
  void accept() {
    for (int number = 0;; ++number) {
      const int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      {
        base::MutexLock lock(mutex_);
        sockets_.insert(socket);
      }
      connections_.emplace_back([this, socket, number] { serve(socket, number); });
    }
  }

  void serve(int socket, int number) {
    {
      Connection connection(socket, tls_.get());
      while (std::optional<ReceivedRequest> request = connection.readRequest()) {
        request->connection = number;
        {
          base::MutexLock lock(mutex_);
          received_.push_back(*request);
        }
        const ScriptedAnswer answer = answer_(*request);
        if (answer.cut || !connection.writeAnswer(answer)) break;
      }
    }
    base::MutexLock lock(mutex_);
    sockets_.erase(socket);
    ::close(socket);
  }

  const Answer answer_;
  const TlsContext tls_;
  int socket_ = -1;
  int port_ = 0;
  std::thread accepting_;
  std::vector<std::thread> connections_;  // the accepting thread's own until it has ended

  mutable base::Mutex mutex_;
  std::set<int> sockets_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<ReceivedRequest> received_ PENSTOCK_GUARDED_BY(mutex_);
};

ScriptedHttpServer::ScriptedHttpServer(Answer answer)
    : listener_(std::make_unique<Listener>(std::move(answer), nullptr)) {}

ScriptedHttpServer::ScriptedHttpServer(Answer answer, const std::string& certificatePem,
                                       const std::string& keyPem)
    : listener_(
          std::make_unique<Listener>(std::move(answer), makeTlsContext(certificatePem, keyPem))) {}

ScriptedHttpServer::~ScriptedHttpServer() = default;

int ScriptedHttpServer::port() const { return listener_->port(); }
std::string ScriptedHttpServer::address() const { return fmt::format("127.0.0.1:{}", port()); }
std::vector<ReceivedRequest> ScriptedHttpServer::received() const { return listener_->received(); }

}  // namespace penstock::gcp::testing
