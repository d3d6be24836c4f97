#include "bench/server_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace penstock::bench {
namespace {

std::string readLine(int from) {
  std::string line;
  for (char c = 0; ::read(from, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::start(const std::string& name,
                                                                    const std::string& argument) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / name).string();
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (::pipe2(input.data(), 0) != 0 || ::pipe2(output.data(), 0) != 0) {
    return base::makeStatus(absl::StatusCode::kInternal, "no pipe: {}", std::strerror(errno));
  }
  const pid_t process = ::fork();
  if (process == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    for (const int end : {input[0], input[1], output[0], output[1]}) ::close(end);
    ::execl(program.c_str(), program.c_str(), argument.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  std::unique_ptr<ServerProcess> server(new ServerProcess(process, input[1]));
  const std::string port = process > 0 ? readLine(output[0]) : std::string();
  ::close(output[0]);
  if (port.empty()) {
    return base::makeStatus(absl::StatusCode::kInternal, "{} did not start", program);
  }
  server->address_ = "127.0.0.1:" + port;
  return server;
}

ServerProcess::~ServerProcess() {
  ::close(input_);
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
}

}  // namespace penstock::bench
