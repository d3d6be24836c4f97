#include "penstock/emulator/service/connection_cut.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdlib>
#include <memory>

namespace penstock::emulator {
namespace {

using Ask = int(int, sockaddr*, socklen_t*);

int portBy(Ask* ask, int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (ask(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return -1;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return -1;
}

}  // namespace

bool shutDownConnections(int ownPort, std::optional<int> peerPort, int how) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc/self/fd"), ::closedir);
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(directory.get())) {
    const int descriptor = std::atoi(entry->d_name);
    if (portBy(::getsockname, descriptor) != ownPort) continue;
    // A socket that listens has no peer.
    const int peer = portBy(::getpeername, descriptor);
    if (peer < 0 || peer != peerPort.value_or(peer)) continue;
    found = ::shutdown(descriptor, how) == 0 || found;
  }
  return found;
}

bool cutConnection(int ownPort, int peerPort) {
  return shutDownConnections(ownPort, peerPort, SHUT_RDWR);
}

int portOfPeer(std::string_view peer) {
  const size_t colon = peer.rfind(':');
  if (colon == std::string_view::npos) return -1;
  int port = -1;
  std::from_chars(peer.data() + colon + 1, peer.data() + peer.size(), port);
  return port;
}

}  // namespace penstock::emulator
