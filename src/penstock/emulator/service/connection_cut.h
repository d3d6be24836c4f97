#pragma once

#include <optional>
#include <string_view>

namespace penstock::emulator {

/// Shuts down the server's ends of TCP connections to this process's port `ownPort`, the one from
/// the port `peerPort` or all; `how` as for shutdown(2). Servers give nobody a hold of their
/// sockets, so they are looked up among the process's. False when there is none.
bool shutDownConnections(int ownPort, std::optional<int> peerPort, int how);

/// Ends one connection with everything on it, as a failure of the network would.
bool cutConnection(int ownPort, int peerPort);

/// The port in an address as gRPC writes a peer's ("ipv4:127.0.0.1:4711"); -1 when it has none.
[[nodiscard]] int portOfPeer(std::string_view peer);

}  // namespace penstock::emulator
