#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/penstock/testing/run_command.h"
#include "penstock/emulator/testing/local_emulator.h"

/// The command as users run it: another process, its output, its exit code.
namespace penstock::command {

/// The last line of an output, as JSON.
inline nlohmann::json lastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  const size_t begin = text.rfind('\n', end);
  return nlohmann::json::parse(text.substr(begin == std::string::npos ? 0 : begin + 1), nullptr,
                               false);
}

/// Loads with a schema of (id, name) into the embedded emulator.
class CommandTest : public ::testing::Test {
 protected:
  CommandResult load(const std::string& input, std::vector<std::string> more = {},
                     const std::string& table = "p.d.t") {
    std::vector<std::string> arguments = {"load",   input,     "--to",       table, "--schema",
                                          schema(), "--local", "--data-dir", data()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runCommand(arguments);
  }
  /// The rows of a table, one JSON object a line.
  std::string rows(const std::string& table = "p.d.t") {
    return runCommand({"head", table, "--json", "-n", "1000000", "--local", "--data-dir", data()})
        .out;
  }
  std::string schema() {
    return folder_.write("schema.json",
                         R"([{"name":"id","type":"INTEGER"},{"name":"name","type":"STRING"}])");
  }
  std::string data() { return folder_.path("emulator"); }

  TestFolder folder_;
};

/// An emulator in this process, so that faults can be planted.
class CommandWithFaults : public CommandTest {
 protected:
  std::vector<std::string> withEmulator(std::vector<std::string> arguments) const {
    for (const std::string& each :
         {std::string("--emulator-endpoint"), emulator_->grpcEndpoint(),
          std::string("--emulator-rest-endpoint"), emulator_->restEndpoint()}) {
      arguments.push_back(each);
    }
    return arguments;
  }
  std::vector<std::string> loadArguments(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments =
        withEmulator({"load", folder_.write("a.jsonl", "{\"id\":1}\n"), "--to", "p.d.t", "--schema",
                      schema(), "--json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  uint64_t plant(const emulator::FaultRule& rule) { return *emulator_->faults().add(rule); }

  const std::unique_ptr<emulator::Emulator> emulator_ = emulator::startLocalEmulator();
};

/// An emulator in another process, on free ports.
class CommandWithEmulator : public CommandTest {
 protected:
  CommandWithEmulator()
      : emulator_({"emulate", "--rest-port", "0", "--grpc-port", "0", "--dataset", "p.d"}) {
    if (!emulator_.waitForText("gRPC on ")) return;
    const std::string text = emulator_.text();
    rest_ = between(text, "http://", ",");
    grpc_ = between(text, "gRPC on ", " ");
  }
  static std::string between(const std::string& text, const std::string& before,
                             const std::string& after) {
    const size_t begin = text.find(before) + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
  }
  std::vector<std::string> withEmulator(std::vector<std::string> arguments) const {
    for (const std::string& each : {std::string("--emulator-endpoint"), grpc_,
                                    std::string("--emulator-rest-endpoint"), rest_}) {
      arguments.push_back(each);
    }
    return arguments;
  }

  RunningCommand emulator_;
  std::string rest_;
  std::string grpc_;
};

}  // namespace penstock::command
