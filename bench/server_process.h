#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "penstock/base/status.h"

namespace penstock::bench {

/// A server in a process of its own, so that its CPU is not the client's. Ends with the object (and
/// with this process, whatever becomes of it).
class ServerProcess {
 public:
  /// Starts a program that lies beside this one, prints its port and serves until its standard
  /// input is closed.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> start(const std::string& name,
                                                              const std::string& argument = "0");
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// "127.0.0.1:port"
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  ServerProcess(pid_t process, int input) : process_(process), input_(input) {}
  const pid_t process_;
  const int input_;  // closing it ends the server
  std::string address_;
};

}  // namespace penstock::bench
