#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "apps/penstock/testing/command_fixtures.h"

namespace penstock::command {

/// An emulator in a process of its own that can be killed and started again with the same data and
/// the same ports.
class RestartableEmulator {
 public:
  /// `directory` becomes its data directory.
  explicit RestartableEmulator(std::string directory) : directory_(std::move(directory)) {
    start("0", "0");
  }

  void kill() {
    process_->signal(SIGKILL);
    EXPECT_EQ(process_->wait().exitCode, -1);
  }
  void restart() { start(portOf(rest_), portOf(grpc_)); }
  void signal(int number) const { process_->signal(number); }

  [[nodiscard]] std::vector<std::string> with(std::vector<std::string> arguments) const {
    for (const std::string& each : {std::string("--emulator-endpoint"), grpc_,
                                    std::string("--emulator-rest-endpoint"), rest_}) {
      arguments.push_back(each);
    }
    return arguments;
  }
  [[nodiscard]] const std::string& grpc() const { return grpc_; }
  [[nodiscard]] const std::string& rest() const { return rest_; }

 private:
  void start(const std::string& restPort, const std::string& grpcPort) {
    process_ = std::make_unique<RunningCommand>(
        std::vector<std::string>{"emulate", "--rest-port", restPort, "--grpc-port", grpcPort,
                                 "--data-dir", directory_, "--dataset", "p.d"});
    ASSERT_TRUE(process_->waitForText("gRPC on ")) << process_->wait().error;
    const std::string text = process_->text();
    rest_ = between(text, "http://", ",");
    grpc_ = between(text, "gRPC on ", " ");
  }
  static std::string between(const std::string& text, const std::string& before,
                             const std::string& after) {
    const size_t begin = text.find(before) + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
  }
  static std::string portOf(const std::string& endpoint) {
    return endpoint.substr(endpoint.rfind(':') + 1);
  }

  std::string directory_;
  std::unique_ptr<RunningCommand> process_;
  std::string rest_;
  std::string grpc_;
};

}  // namespace penstock::command
