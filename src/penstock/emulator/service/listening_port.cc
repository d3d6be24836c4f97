#include "penstock/emulator/service/listening_port.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace penstock::emulator {

std::string hostAndPort(const std::string& host, int port) {
  const bool bare = host.find(':') != std::string::npos && host.front() != '[';
  return bare ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

absl::Status checkCanListen(const std::string& host, int port) {
  const auto refused = [&](std::string_view why) {
    return base::makeStatus(absl::StatusCode::kUnavailable, "cannot listen on {}: {}",
                            hostAndPort(host, port), why);
  };
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) return refused(::gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  const int handle =
      ::socket(addresses->ai_family, addresses->ai_socktype | SOCK_CLOEXEC, addresses->ai_protocol);
  if (handle < 0) return refused(std::generic_category().message(errno));
  const int yes = 1;  // ports of connections that linger after their close are free
  ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool bound =
      ::bind(handle, addresses->ai_addr, addresses->ai_addrlen) == 0 && ::listen(handle, 1) == 0;
  const int error = errno;
  ::close(handle);
  if (!bound) return refused(std::generic_category().message(error));
  return absl::OkStatus();
}

}  // namespace penstock::emulator
